"""Small inputs of common formats, for a program whose tree has no sample: chosen by the suffixes that its help and
its documents name (``in.fq``, ``*.csv``), and a few shapes that any program may be given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class SampleInput:
    """One input. ``name`` is what the file is called in a case's folder; ``path`` where it lies in the source tree
    (empty for a generic one)."""

    name: str
    content: bytes
    kind: str
    path: str = ""

    @property
    def is_text(self) -> bool:
        return b"\0" not in self.content


SHAPES = (
    SampleInput("words.txt", b"pear 3\napple 12\nfig 7\napple 12\n\nplum -4\n", "txt"),
    SampleInput("table.csv", b'name,qty,price\nbolt,3,0.25\n"nut, hex",10,1.5\nwasher,,2\n', "csv"),
    SampleInput("numbers.txt", b"5\n3.25\n-2\n1000000\n0\n7e2\n", "num"),
    SampleInput("data.json", b'{"name": "a\\u00e9", "list": [1, 2.5, null, true], "in": {"k": "v"}}\n', "json"),
    SampleInput("plain.conf", b"# settings\nname = demo\nlevel=3\n\n[section]\nkey = value\n", "conf"),
    SampleInput("empty.txt", b"", "empty"),
    SampleInput("crlf.txt", b"first line\r\nsecond\tline\r\n\r\nlast without end", "crlf"),
    SampleInput("utf8.txt", "naïve café\n日本語 テキスト\nΩ≈ç√ 🙂\n".encode(), "utf8"),
    SampleInput("long.txt", b"lorem ipsum dolor " * 60 + b"\n" + b"x" * 700 + b"\n", "long"),
)

_FASTA = b""">chr1 first sequence
ACGTACGTNNNNacgtTTAGGGTTAGGGTTAGGGCCCTAACCCTAA
GGGGGGCCCCATATATATRYSWKM
>chr2
TTTTTTTTTTGGGCCCAAATTTACGTACGATCGATCGATCGGCTA
>short desc
ACG
>empty
"""
_FASTQ = b"""@read1/1 comment
ACGTNACGTTAGCATCGGATC
+
IIIIIHHHGG#####5678II
@read2/1
GGGTTTAAACCCNNNACGT
+read2/1
!!5566778899::;;<<=
@read3/1
acgtacgtAC
+
IIIIIIIIII
"""
_MARKDOWN = b"""# Title *one*

A paragraph with **bold**, `code`, [a link](http://a.example/ "t") and ![img](i.png).
Two spaces end  \nthis line. "Quotes" -- and dashes... &amp; &copy; <b>html</b>

1. first
2. second
   - nested
   - [x] item

> quote
> more

```c
int main(void) { return 0; }
```

| a | b |
|---|--:|
| 1 | 2 |

Setext
------

[ref]: /url 'x'
See [ref]. <https://b.example>
***
"""
_C = b"""#include <stdio.h>
#define TWICE(x) ((x) + (x))
#define NAME(a, b) a##b
#ifdef FLAG
int flagged = TWICE(3);
#else
int NAME(un, flagged) = __LINE__; /* comment */
#endif
#if defined(A) && A > 1
const char *s = "text // no comment";
#elif 1
const char *s = "other"; // comment
#endif
"""
_AWK = b"""BEGIN { FS = "[ ,]"; print "start" }
NF > 1 { sum += $2; count[$1]++; printf "%s=%d\\n", $1, $2 }
END { for (i = 0; i < 3; i++) s = s substr("abc", i + 1, 1); print s, sum, length(count); print toupper("x") }
"""
BY_SUFFIX = {
    "fa": _FASTA,
    "fasta": _FASTA,
    "fq": _FASTQ,
    "fastq": _FASTQ,
    "bed": b"chr1\t2\t10\nchr1\t20\t40\tname\nchr2\t0\t5\n",
    "lst": b"chr1\nread2/1\nshort\n",
    "list": b"chr1\nread2/1\nshort\n",
    "snp": b"chr1\t3\tG\tA\nchr2\t5\tT\tC\n",
    "csv": b'id,name,amount,date\n1,Ann,10.5,2021-03-04\n2,"Bo, jr",-3,2021-03-05\n3,Cy,,2020-12-31\n4,Ann,7,\n',
    "tsv": b"id\tname\tamount\n1\tAnn\t10.5\n2\tBo\t-3\n3\tCy\t\n",
    "json": b'{"a": {"b": [1, 2, {"c": "x"}]}, "n": null, "t": true, "f": -1.5e3, "s": "q\\"\\u00e9"}\n',
    "jsonl": b'{"id": 1, "v": "a"}\n{"id": 2, "v": [1]}\n',
    "yaml": b"name: demo\nlist:\n  - 1\n  - two\nmap: {a: b}\ntext: |\n  line\n",
    "yml": b"name: demo\nlist:\n  - 1\n  - two\nmap: {a: b}\n",
    "toml": b'title = "demo"\n[owner]\nage = 3\ntags = ["a", "b"]\n',
    "ini": b"; settings\nname = demo\n[section]\nkey=value\n",
    "conf": b"# settings\nname = demo\nlevel = 3\n",
    "xml": b'<?xml version="1.0"?>\n<r a="1"><i>x</i><i/><!-- c -->&amp;</r>\n',
    "html": b"<!doctype html><title>t</title><p class=a>One <b>two</b><br>&lt;\n",
    "md": _MARKDOWN,
    "markdown": _MARKDOWN,
    "c": _C,
    "h": _C,
    "cpp": _C,
    "awk": _AWK,
    "sql": b"select a, count(*) from t where b = 'x' group by a;\n",
    "log": b"2021-01-02T03:04:05Z INFO start id=1\n2021-01-02T03:04:06Z ERROR failed: x (3)\n",
    "dot": b"digraph g { a -> b; b -> c [label=x]; }\n",
    "txt": b"pear 3\napple 12\nfig 7\napple 12\n\nplum -4\n",
}


def named_suffixes(texts: Iterable[str]) -> list[str]:
    """The suffixes of known formats that help texts and documents name, most often named first."""
    counts: dict[str, int] = {}
    for text in texts:
        for suffix in re.findall(r"(?<=[\w*>\]])\.([a-z][a-z0-9]{0,8})(?![\w(])", text):
            if suffix in BY_SUFFIX:
                counts[suffix] = counts.get(suffix, 0) + 1
    return sorted(counts, key=lambda suffix: (-counts[suffix], suffix))


def generic(suffix: str, name: str = "") -> SampleInput | None:
    """The generic input of a format, called ``name``; None for a format that is not known."""
    content = BY_SUFFIX.get(suffix.lower().lstrip("."))
    return None if content is None else SampleInput(name or f"in.{suffix}", content, f".{suffix}")
