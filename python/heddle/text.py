"""Texts of the compiler in notebooks: highlighting, tables of its analyses, control flow as a picture.

Everything shown is what the compiler prints. Here it is only taken apart and drawn. The control-flow graph is laid out in
layers (Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system structures", 1981): back edges are
left out, a block's layer is the longest path to it, and blocks of a layer are ordered by the mean place of their
predecessors.
"""

from __future__ import annotations

import html
import re
from typing import Any


class Code(str):
    """A text of the compiler: a string that a notebook shows with colours."""

    language: str

    def __new__(cls, text: str, language: str) -> Code:
        code = super().__new__(cls, text)
        code.language = language
        return code

    def _repr_html_(self) -> str:
        return (
            "<style>.heddle-code .c{color:#6a737d}.heddle-code .o{color:#a0522d;font-weight:600}.heddle-code .r{color:#0b6e99}"
            ".heddle-code .n{color:#7048a8}.heddle-code .l{color:#22863a;font-weight:600}.heddle-code .s{color:#b5541c}</style>"
            f'<pre class="heddle-code" style="max-height:36em;overflow:auto;line-height:1.3">{highlighted(self, self.language)}</pre>'
        )

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


_TOKENS = re.compile(
    r"""(?P<c>;[^\n]*|![0-9]+(?::[0-9]+)*(?=\s|$)|!DI\w+\([^\n]*\))
    |(?P<s>c?"[^"\n]*")
    |(?P<l>(?m:^)[A-Za-z_.$][\w.$-]*:)
    |(?P<r>[%@][\w.$-]+|\b[mlsptv][0-9]+\b|\bgid\.[xyz]\b|c\[0x[0-9a-f]+\])
    |(?P<n>\b-?(?:0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)\b)
    |(?P<o>\b(?:define|declare|ret|br|label|phi|load|store|call|tail|getelementptr|inbounds|icmp|fcmp|select|add|sub|mul|and|or|xor
    |shl|lshr|ashr|zext|sext|trunc|fmul|fadd|fsub|fdiv|switch|kernel|stage|registers|arg|surface)\b|(?<=\n\ \ )[a-z][\w.]*)""",
    re.VERBOSE,
)


def highlighted(text: str, language: str) -> str:
    """The text as HTML, its words in spans by kind: comments and places, strings, labels, registers, numbers, operations."""
    out, at = [], 0
    for match in _TOKENS.finditer(text):
        out.append(html.escape(text[at : match.start()]))
        out.append(f'<span class="{match.lastgroup}">{html.escape(match.group())}</span>')
        at = match.end()
    out.append(html.escape(text[at:]))
    return "".join(out)


def kernel_part(text: str, form: str, kernel: str) -> str:
    """Of a program's text the part of a kernel; the whole text if it cannot be told apart."""
    if form == "asm":
        parts = re.split(r"(?m)^(?=\.kernel )", text)
        found = [p for p in parts if f'"name":"{kernel}"' in p.split(',"args"', 1)[0]]
        return found[0].rstrip() + "\n" if found else text
    head = rf"(?m)^(?:define[^\n]*@{re.escape(kernel)}\(|kernel @{re.escape(kernel)} )"
    match = re.search(head, text)
    end = text.find("\n}", match.start()) if match else -1
    return text[match.start() : end + 3] if match and end >= 0 else text


def frame(rows: list[dict[str, Any]]):
    """Rows as a pandas frame."""
    import pandas

    return pandas.DataFrame(rows)


def _section(text: str, heading: str) -> list[str]:
    """The lines below a heading."""
    lines = text.splitlines()
    if heading not in lines:
        return []
    start = lines.index(heading) + 1
    end = next((i for i in range(start, len(lines)) if lines[i] and not lines[i].startswith((" ", "block "))), len(lines))
    return lines[start:end]


def uniformity_rows(text: str, kernel: str) -> list[dict[str, Any]]:
    """Instructions with their classes from what `print<uniformity>` prints."""
    rows, block = [], ""
    for line in _section(text, f"uniformity of '{kernel}':"):
        if line.startswith("block "):
            block = line[6:].rstrip(":")
        elif match := re.match(r"  ([a-z ]+?)(?: \(([^)]*)\))?: (.*)", line):
            kind, reason, instruction = match.groups()
            rows.append({"block": block, "class": kind, "reason": reason, "instruction": instruction})
    return rows


def surface_rows(text: str, kernel: str) -> list[dict[str, Any]]:
    """Pointer arguments with their surfaces from what `print<surfaces>` prints."""
    rows = []
    for line in _section(text, f"surfaces of {kernel}:"):
        if match := re.match(r"  (%\S+): ([^,]+), (\d+) loads, (\d+) stores, (\d+) reductions(?:, of \{(.*)\})?(.*)", line):
            argument, kind, loads, stores, reductions, types, more = match.groups()
            counts = {"loads": int(loads), "stores": int(stores), "reductions": int(reductions)}
            rows.append({"argument": argument, "kind": kind, **counts, "types": types or "", "note": more.strip(" ,")})
        elif line.strip():
            rows.append({"argument": line.strip(), "kind": "", "loads": 0, "stores": 0, "reductions": 0, "types": "", "note": ""})
    return rows


def cache_hint_rows(text: str, kernel: str) -> list[dict[str, Any]]:
    """Accesses with their cache policies from what `print<cache-hints>` prints."""
    rows = []
    for line in _section(text, f"cache hints of {kernel}:"):
        if match := re.match(r"  (\S+): (\S+) ([^,]+), (.*?)(?:, line (\d+))?$", line):
            argument, access, policy, reason, number = match.groups()
            place = int(number) if number else None
            rows.append({"argument": argument, "access": access, "policy": policy, "reason": reason, "line": place})
    return rows


class Graph:
    """A picture: `svg` is its text."""

    def __init__(self, svg: str, blocks: dict[str, list[str]], edges: list[tuple[str, str, str]]):
        self.svg = svg
        #: Lines of each block.
        self.blocks = blocks
        #: From, to, and kind: `always`, `taken`, `falls through`, `divergent`.
        self.edges = edges

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str) -> None:
        """Writes it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def _blocks(mir: str) -> tuple[dict[str, list[str]], list[tuple[str, str, str]]]:
    """Blocks and edges of a kernel's machine IR."""
    blocks: dict[str, list[str]] = {}
    name = None
    for line in mir.splitlines():
        if match := re.match(r"(bb\d+):", line):
            name = match.group(1)
            blocks[name] = []
        elif name and line.startswith("  "):
            blocks[name].append(re.sub(r" ![\d:]+(?= ;|$)", "", line.strip()))
    edges, names = [], list(blocks)
    for i, name in enumerate(names):
        falls = True
        for line in blocks[name]:
            words = line.split()
            op = next((w for w in words if w.split(".")[0] in ("bra", "bras", "brad", "exit", "trap")), "").split(".")[0]
            # The second target of `brad` is where its lanes meet again.
            targets = re.findall(r"\bbb\d+\b", line)[:1]
            if op in ("bra", "exit", "trap"):
                edges += [(name, t, "always") for t in targets]
                falls = False
            elif op in ("bras", "brad"):
                edges += [(name, t, "divergent" if op == "brad" else "taken") for t in targets]
        if falls and i + 1 < len(names):
            conditional = any(e[0] == name for e in edges)
            edges.append((name, names[i + 1], "falls through" if conditional else "always"))
    return blocks, edges


def _back_edges(names: list[str], edges: list[tuple[str, str, str]]) -> set[int]:
    """Numbers of the edges that close a circle, as a search in depth finds them."""
    after: dict[str, list[tuple[int, str]]] = {n: [] for n in names}
    for i, (a, b, _) in enumerate(edges):
        after[a].append((i, b))
    state: dict[str, int] = {}
    back: set[int] = set()
    for root in names:
        if root in state:
            continue
        stack = [(root, iter(after[root]))]
        state[root] = 1
        while stack:
            at, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                state[at] = 2
                stack.pop()
            elif state.get(step[1]) == 1:
                back.add(step[0])
            elif step[1] not in state:
                state[step[1]] = 1
                stack.append((step[1], iter(after[step[1]])))
    return back


def _layers(names: list[str], edges: list[tuple[str, str, str]], back: set[int]) -> list[list[str]]:
    """Blocks by layer, in order from left to right."""
    before: dict[str, list[str]] = {n: [] for n in names}
    waits = dict.fromkeys(names, 0)
    for i, (a, b, _) in enumerate(edges):
        if i not in back:
            before[b].append(a)
            waits[b] += 1
    layer = dict.fromkeys(names, 0)
    ready = [n for n in names if waits[n] == 0]
    while ready:
        at = ready.pop(0)
        for i, (a, b, _) in enumerate(edges):
            if a == at and i not in back:
                layer[b] = max(layer[b], layer[at] + 1)
                waits[b] -= 1
                if waits[b] == 0:
                    ready.append(b)
    layers: list[list[str]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    place: dict[str, float] = {}
    for number in range(len(layers)):
        members = [n for n in names if layer[n] == number]
        mean = {n: sum(place.get(p, 0) for p in before[n]) / max(len(before[n]), 1) for n in members}
        layers[number] = sorted(members, key=lambda n: (mean[n], names.index(n)))
        place.update({n: i - len(members) / 2 for i, n in enumerate(layers[number])})
    return layers


_COLOURS = {"always": "#57606a", "taken": "#0b6e99", "falls through": "#57606a", "divergent": "#c2410c"}


def control_flow(mir: str, kernel: str, most_lines: int = 12) -> Graph:
    """The control flow of a kernel's machine IR."""
    blocks, edges = _blocks(mir)
    names = list(blocks)
    back = _back_edges(names, edges)
    layers = _layers(names, edges, back)

    def lines(name: str) -> list[str]:
        body = blocks[name]
        return body if len(body) <= most_lines else [*body[: most_lines - 2], f"… {len(body) - most_lines + 1} more", body[-1]]

    size = {n: (max([len(n) + 1, *map(len, lines(n))]) * 6.7 + 16, len(lines(n)) * 14 + 26) for n in names}
    width = max(sum(size[n][0] + 28 for n in row) for row in layers) if names else 0
    box: dict[str, tuple[float, float, float, float]] = {}
    y = 12.0
    for row in layers:
        x = 20 + (width - sum(size[n][0] + 28 for n in row)) / 2
        for n in row:
            box[n] = (x, y, *size[n])
            x += size[n][0] + 28
        y += max(size[n][1] for n in row) + 44
    lanes = 0
    shapes = []
    for i, (a, b, kind) in enumerate(edges):
        ax, ay, aw, ah = box[a]
        bx, by, bw, _ = box[b]
        x1, y1, x2, y2 = ax + aw / 2, ay + ah, bx + bw / 2, by
        colour = _COLOURS[kind]
        if kind == "taken" or kind == "divergent":
            x1 += aw / 6
        if i in back:
            side = width + 36 + 14 * lanes
            lanes += 1
            path = f"M{x1:.0f},{y1:.0f} v10 H{side:.0f} V{y2 - 14:.0f} H{x2 + 12:.0f} v14"
        else:
            middle = (y1 + y2) / 2
            path = f"M{x1:.0f},{y1:.0f} C{x1:.0f},{middle:.0f} {x2:.0f},{middle:.0f} {x2:.0f},{y2:.0f}"
        dash = ' stroke-dasharray="5 3"' if i in back else ""
        shapes.append(f'<path d="{path}" fill="none" stroke="{colour}"{dash} marker-end="url(#heddle-arrow)"><title>{kind}</title></path>')
    for n in names:
        x, y0, w, h = box[n]
        shapes.append(f'<rect x="{x:.0f}" y="{y0:.0f}" width="{w:.0f}" height="{h:.0f}" rx="4" fill="#f6f8fa" stroke="#8c959f"/>')
        shapes.append(f'<text x="{x + 8:.0f}" y="{y0 + 16:.0f}" font-weight="bold" fill="#1f2328">{n}</text>')
        for k, line in enumerate(lines(n)):
            shapes.append(f'<text x="{x + 8:.0f}" y="{y0 + 31 + 14 * k:.0f}" fill="#1f2328" xml:space="preserve">{html.escape(line)}</text>')
    total = width + 60 + 14 * lanes
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {y:.0f}" width="{total:.0f}" height="{y:.0f}" '
        f'font-family="ui-monospace, monospace" font-size="11" role="img" aria-label="control flow of {html.escape(kernel)}">'
        '<defs><marker id="heddle-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#57606a"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(shapes)}</svg>'
    )
    return Graph(svg, blocks, edges)
