// Questions that this video can be asked, told from its memory.

const MONEY = /[$€£¥]\s?\d|\d\s?(?:%|€|dollars?|euros?)/i;
const CJK = /[\u3400-\u9fff]/g;

const QUESTIONS = {
  price: ["What price is shown?", "广告里的价格是多少？"],
  offer: ["What is the offer?", "有什么优惠？"],
  brand: ["Which brand is advertised?", "这是什么品牌的广告？"],
  story: ["How is the story told?", "这个广告讲了什么故事？"],
  audience: ["Who is this ad for?", "这个广告的目标受众是谁？"],
  persuasion: ["What persuasion devices does this ad use?", "这个广告用了什么说服手法？"],
  action: ["What should viewers do?", "观众应该做什么？"],
  said: ["What is said first?", "第一句话说了什么？"],
};

/** Five questions at most, those first that the memory has something about. */
export function suggestions(memory) {
  const lines = [...memory.screen_text, ...memory.utterances].map((line) => line.text);
  const told = new Set(memory.narrative.inferences.flatMap((each) => [each.kind, each.label]));
  const has = {
    price: lines.some((line) => MONEY.test(line)),
    offer: told.has("offer") || told.has("discount"),
    brand: true,
    story: told.has("arc"),
    persuasion: told.has("device") || told.has("arc"),
    audience: true,
    action: told.has("call to action"),
    said: memory.utterances.length > 0,
  };
  const language = isChinese(lines.join("")) ? 1 : 0;
  return Object.keys(has).filter((name) => has[name]).slice(0, 6).map((name) => QUESTIONS[name][language]);
}

function isChinese(text) {
  return (text.match(CJK) ?? []).length > text.length / 3;
}
