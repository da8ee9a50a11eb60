"""Prints a file with the first match of a regular expression (`^` and `$` of lines) replaced: edit.py FILE PATTERN REPLACEMENT."""
import re
import sys

name, pattern, replacement = sys.argv[1:]
text, count = re.subn(pattern, replacement, open(name, encoding="utf-8").read(), count=1, flags=re.MULTILINE)
if count == 0:
    sys.exit(f"{name}: nothing matches {pattern}")
sys.stdout.write(text)
