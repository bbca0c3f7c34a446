"""Writes the catalogues of translated words anew: `python -m tests.catalogues`, after words or translations changed.

Translations stand in the `.po` files and are kept. Words without one are left empty there, and the tests tell of them.
"""

from __future__ import annotations

import struct

from babel.messages.pofile import read_po

from sphinx_graphviz_autograd.sphinxext.translation import CATALOGUE, FOLDER, words

LANGUAGES = ("de", "ja")


def text(language: str, translations: dict[str, str]) -> str:
    """Return the text of a catalogue; of the template, for no language."""
    header = [
        "Project-Id-Version: sphinx_graphviz_autograd",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        *([f"Language: {language}"] if language else []),
    ]
    start = "\n".join(['msgid ""', 'msgstr ""', *(f'"{line}\\n"' for line in header)])
    entries = (f'msgid "{_quoted(word)}"\nmsgstr "{_quoted(translations.get(word, ""))}"' for word in words())
    return "\n\n".join([start, *entries]) + "\n"


def translated(language: str) -> dict[str, str]:
    """Return the translations of a language's `.po` file."""
    path = FOLDER / language / "LC_MESSAGES" / f"{CATALOGUE}.po"
    with path.open("rb") as file:
        return {str(message.id): str(message.string) for message in read_po(file, locale=language) if message.id}


def compiled(translations: dict[str, str]) -> bytes:
    """Return the content of the `.mo` file of translations: the same bytes wherever it is made."""
    messages = sorted({"": "Content-Type: text/plain; charset=utf-8\n", **translations}.items())
    texts = [[message[part].encode() for message in messages] for part in (0, 1)]
    start = 28 + 16 * len(messages)
    table, data = b"", b""
    for part in texts:
        for one in part:
            table += struct.pack("<II", len(one), start + len(data))
            data += one + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(messages), 28, 28 + 8 * len(messages), 0, 0)
    return head + table + data


def main() -> None:
    """Write all catalogues."""
    (FOLDER / f"{CATALOGUE}.pot").write_text(text("", {}), encoding="utf-8")
    for language in LANGUAGES:
        path = FOLDER / language / "LC_MESSAGES" / f"{CATALOGUE}.po"
        po = text(language, translated(language))
        path.write_text(po, encoding="utf-8")
        path.with_suffix(".mo").write_bytes(compiled(translated(language)))


def _quoted(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"')


if __name__ == "__main__":
    main()
