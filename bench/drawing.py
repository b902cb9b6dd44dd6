"""Drawings of the comparison, as SVG."""
import math
from xml.sax.saxutils import escape

ROW, LEFT, WIDTH, TOP = 14, 430, 480, 44
GRID = (0.5, 1, 2, 5, 10, 20, 50, 100)


def bars(title, rows):
    """A bar for each (name, ratio) of rows, from 1 on, to the right where the ratio is above 1; logarithmic."""
    low = math.log(min([0.5] + [v for _, v in rows]))
    high = math.log(max([2.0] + [v for _, v in rows]))

    def x(v):
        return LEFT + WIDTH * (math.log(v) - low) / (high - low)
    height = TOP + ROW * len(rows) + 10
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="10">' % (LEFT + WIDTH + 60, height),
           '<rect width="100%" height="100%" fill="white"/>', '<text x="8" y="16" font-size="13">%s</text>' % escape(title)]
    for v in GRID:
        if low <= math.log(v) <= high:
            out.append('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="%s"/>' % (x(v), x(v), TOP - 6, height - 8, "#444" if v == 1 else "#ddd"))
            out.append('<text x="%.1f" y="%d" text-anchor="middle">%g</text>' % (x(v), TOP - 10, v))
    for i, (name, v) in enumerate(rows):
        y = TOP + ROW * i
        a, b = sorted((x(1), x(v)))
        out.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (LEFT - 8, y + 10, escape(name)))
        out.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (a, y + 1, max(b - a, 0.5), ROW - 3, "#2a7" if v >= 0.97 else "#c43"))
        out.append('<text x="%.1f" y="%d">%.2f</text>' % (max(b, x(1)) + 4, y + 10, v))
    return "\n".join(out + ["</svg>", ""])
