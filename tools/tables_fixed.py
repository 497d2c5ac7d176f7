"""The tables of products in fixed point, for tools/tables: times and errors that tools/fixed_map measured."""
import csv
import math

from tables_base import RESULTS, ROOT, missing, number

CANDIDATES = {"fixed-31": "31 bits", "fixed-23": "23 bits", "fixed-15": "15 bits", "strict": "strict",
              "numpy": "NumPy", "cublas-sgemm": "SGEMM", "tf32x3": "`tf32x3`", "fast": "fast",
              "tf32": "`tf32`", "cublas-tf32": "TF32"}
GROWS = "uniform, −1 to 1", "spread over 2^±30"  # the data whose errors are shown over k


def read_csv(name):
    """The rows of a CSV, and what the lines before it say; None where it is not there."""
    path = ROOT / name
    if not path.exists():
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#") and ": " in line)
    return list(csv.DictReader(line for line in lines if not line.startswith("#"))), head


def csv_provenance(name, head):
    keys = [key for key in ("device", "peer", "numpy's BLAS") if key in head]
    said = [head[key] if key != "numpy's BLAS" else f"NumPy's BLAS: {head[key]}" for key in keys]
    return f"{'; '.join(said)}; Rung {head['rung']}; {head['date']}; `{head['command']}` ([record](results/{name}))."


def shape_text(row):
    m, n, k = row["m"], row["n"], row["k"]
    return f"{m}³" if m == n == k else f"{m} × {n} × {k}"


def gain_text(gain):
    text = f"{gain:.2f}" if gain < 9.995 else f"{gain:.1f}"
    return f"**{text}**" if gain > 1 else text


def fixed_summary(jobs):
    """What the table says, counted."""
    def ahead(name, other):
        both = [ms for ms in jobs.values() if name in ms and other in ms]
        return f"{sum(ms[name] < ms[other] for ms in both)} of {len(both)} shapes"
    squares = [shape for shape, ms in jobs.items() if len(set(shape)) == 1 and "fixed-31" in ms]
    lost = [n for n, _, _ in squares if jobs[n, n, n]["fixed-31"] >= jobs[n, n, n]["cublas-sgemm"]]
    won = [n for n, _, _ in squares if n > max(lost, default=0)]
    text = f"Of squares 31 bits are faster than SGEMM from {min(won)} on. " if won else ""
    return (f"{text}31 bits are faster than SGEMM at {ahead('fixed-31', 'cublas-sgemm')}, 23 bits at "
            f"{ahead('fixed-23', 'cublas-sgemm')}; 31 bits faster than three products of TF32 (`tf32x3`) at "
            f"{ahead('fixed-31', 'tf32x3')}, and than strict at {ahead('fixed-31', 'strict')}.")


def table_fixed_times(machine):
    name = f"{machine}/fixed-times.csv"
    found = read_csv(f"{RESULTS}/{name}")
    if found is None:
        return missing(f"{RESULTS}/{name}")
    rows, head = found
    jobs, texts = {}, {}
    for row in rows:
        shape = tuple(int(row[key]) for key in "mnk")
        jobs.setdefault(shape, {})[row["candidate"]] = float(row["ms"])
        texts[shape] = shape_text(row)
    jobs = {shape: jobs[shape] for shape in sorted(jobs, key=math.prod) if "cublas-sgemm" in jobs[shape]}
    names = [name for name in CANDIDATES if any(name in ms for ms in jobs.values()) and name != "cublas-sgemm"]
    lines = ["![SGEMM's time over that of each candidate: squares, long k, short k, and a map](fixed-map.svg)", "",
             fixed_summary(jobs), "", "| m × n × k | SGEMM, ms | " + " | ".join(CANDIDATES[name] for name in names)
             + " |", "|---|---|" + "---|" * len(names)]
    for shape, ms in jobs.items():
        cells = [gain_text(ms["cublas-sgemm"] / ms[name]) if name in ms else "–" for name in names]
        lines.append(f"| {texts[shape]} | {number(ms['cublas-sgemm'])} | " + " | ".join(cells) + " |")
    lines += ["", "SGEMM's time over that of each, bold where it is faster than SGEMM. " + csv_provenance(name, head)]
    return "\n".join(lines) + "\n"


def error_text(row, measure):
    texts = []
    for value in (row[measure], row[measure + "_most"]):
        digits, exponent = f"{float(value):.1e}".split("e")
        texts.append(digits + (f"e{int(exponent)}".replace("-", "−") if int(exponent) else ""))
    return ", ".join(texts)


def error_table(first, rows, measure, label):
    """A line a label, a column a candidate."""
    names = [name for name in CANDIDATES if any(row["candidate"] == name for row in rows) and name != "fast"]
    lines = {}
    for row in rows:
        lines.setdefault(label(row), {})[row["candidate"]] = error_text(row, measure)
    return [f"| {first} | " + " | ".join(CANDIDATES[name] for name in names) + " |", "|---|" + "---|" * len(names),
            *(f"| {text} | " + " | ".join(cells.get(name, "–") for name in names) + " |"
              for text, cells in lines.items())]


def table_fixed_errors(*machines):
    named = [f"{machine}/fixed-errors.csv" for machine in machines]
    found = [(name, read_csv(f"{RESULTS}/{name}")) for name in named if (ROOT / RESULTS / name).exists()]
    if not found:
        return missing(f"{RESULTS}/{named[0]}")
    name, (rows, head) = found[0]
    middle = [row for row in rows if (row["m"], row["k"]) == ("256", "1024")]
    grown = [row for row in rows if row["data"] in GROWS]
    grown.sort(key=lambda row: GROWS.index(row["data"]))
    lines = ["Relative to the element, 256 × 256 × 1024, the median and the largest of 256 elements:", "",
             *error_table("elements", middle, "of_element", lambda row: row["data"]), "",
             "The same errors, relative to the sum of the terms' magnitudes, Σ|a||b|:", "",
             *error_table("elements", middle, "of_terms", lambda row: row["data"]), "",
             "Relative to Σ|a||b|, over k:", "",
             *error_table("elements", grown, "of_terms", lambda row: f"{row['data']}; {shape_text(row)}"), "",
             csv_provenance(name, head)]
    return "\n".join(lines) + "\n"
