"""Many videos and many questions: `ask_many` for rows, `answer_file` for tables on disk."""

from admir.batch.asking import ask_many
from admir.batch.files import FileEvent, RowKept, TableAnswered, TableOpened, answer_file
from admir.batch.folders import videos_in
from admir.batch.rows import Question, RowAnswered, RowFailed

__all__ = [
    "FileEvent",
    "Question",
    "RowAnswered",
    "RowFailed",
    "RowKept",
    "TableAnswered",
    "TableOpened",
    "answer_file",
    "ask_many",
    "videos_in",
]
