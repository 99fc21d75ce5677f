"""Texts that no parser may fail on."""

TEXTS = ["Ilse opened the bakery at five.", "Did you lock the shed? Yes.", "", "\n", "Go"]


ODD_TEXTS = [
    "",
    " ",
    "\n \t\n",
    "Zyzzogeton",
    "😀 👩‍👩‍👧 😀😀.",
    "a\x00b \x07 \x1b[0m c\u200b\ufeff",
    "السلام عليكم! שלום עולם.",
    "(((((( )))) ]]] {{ `` '' \" \\",
    "1/2 -LRB- -NONE- *T*-1 <form> @NP S|VP",
    "\ud7ff\U0010ffff",
    "and and and the the of of.",
]
