"""Many videos and many questions: `ask_many` for rows, `answer_file` for tables on disk."""

from admir.batch.answer_rows import ask_many
from admir.batch.folders import videos_in
from admir.batch.row import Question, RowAnswered, RowFailed
from admir.batch.run_table import FileEvent, RowKept, TableAnswered, TableOpened, answer_file

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
