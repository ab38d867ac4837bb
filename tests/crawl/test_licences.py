"""Licence texts as they are found in the wild, their first lines."""

from __future__ import annotations

import pytest

from gymline.crawl.licences import licence_of

BSD = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted"
PERMISSION = (
    "Permission to use, copy, modify, and/or distribute this software for any\n"
    "purpose with or without fee is hereby granted"
)
ENDORSE = "\n * Neither the name of X nor the names of its contributors may be used to endorse or promote products"


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("Permission is hereby granted, free of charge, to any person obtaining a copy\nof this software", "MIT"),
        ("                 Apache License\n           Version 2.0, January 2004", "Apache-2.0"),
        ("        GNU GENERAL PUBLIC LICENSE\n           Version 2, June 1991", "GPL-2.0"),
        ("        GNU GENERAL PUBLIC LICENSE\n           Version 3, 29 June 2007", "GPL-3.0"),
        ("  GNU LESSER GENERAL PUBLIC LICENSE\n       Version 2.1, February 1999", "LGPL-2.1"),
        ("  GNU LESSER GENERAL PUBLIC LICENSE\n Version 3 … version 3 of the GNU General Public License", "LGPL-3.0"),
        ("  GNU AFFERO GENERAL PUBLIC LICENSE\n   Version 3, 19 November 2007", "AGPL-3.0"),
        (BSD + " provided that", "BSD-2-Clause"),
        (BSD + " provided that" + ENDORSE, "BSD-3-Clause"),
        (PERMISSION + ", provided that the above", "ISC"),
        (PERMISSION + ".\n\nTHE SOFTWARE", "0BSD"),
        ("Mozilla Public License Version 2.0\n====", "MPL-2.0"),
        ("This is free and unencumbered software released into the public domain.", "Unlicense"),
        (
            "In no event will the authors be held liable for any damages\narising from the use of this software.",
            "Zlib",
        ),
        ("Boost Software License - Version 1.0 - August 17th, 2003", "BSL-1.0"),
        ("CC0 1.0 Universal\n\nStatement of Purpose", "CC0-1.0"),
        ("Copyright (c) X. All rights reserved. Do not copy.", None),
        ("", None),
    ],
)
def test_each_licence_is_told_by_a_sentence_of_its_own(text: str, licence: str | None) -> None:
    assert licence_of(text) == licence


def test_of_several_licences_in_one_file_the_first_counts() -> None:
    mit = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"
    assert licence_of(f"Copyright X\n{BSD}{'.' * 2000}\n-----\nhoudini.c\n{mit}") == "BSD-2-Clause"
    assert licence_of(f"{mit}\n-----\n{BSD}") == "MIT"
