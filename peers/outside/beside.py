"""What the laboratory measured of its peers beside what gpu.cu or cpu.cpp measured of them.

  python3 beside.py outside.csv RECORD...

Prints a row a job that both have: both medians in milliseconds and the laboratory's by the other's.
`hot` stands beside the other's calls with waits between them and beside those without, `row`.
Ends with 1 where one of cold caches is off by more than 5 %, where a hot one of more than 50 us is
longer by more than 1 %, which is what measuring adds, or where there is nothing to compare."""
import csv
import json
import statistics
import sys


def peers_of(path):
    """(peer, operation, keys of the job, caches, median) of each."""
    job = None
    with open(path) as lines:
        for line in map(json.loads, lines):
            if "operation" in line:
                job = line
            elif "peer" in line and line.get("samples_ms"):
                yield line["rung"], job["operation"], job["job"], job.get("caches"), statistics.median(line["samples_ms"])


def find(inside, row):
    """The last of the job that the row names; what the row says nothing of is as it is by default."""
    words = [word.split("=") for word in row["job"].split()]
    wanted = "hot" if row["caches"] == "row" else row["caches"]
    for peer, operation, job, caches, ms in reversed(inside):
        if (peer, operation, caches) == (row["peer"], row["operation"], wanted):
            if all(str(job.get(key)) == value for key, value in words):
                return ms
    return None


def is_off(caches, outside, ratio):
    if caches == "hot":
        return outside > 0.05 and ratio > 1.01
    return caches == "cold" and abs(ratio - 1) > 0.05


def main(outside, *records):
    inside = [found for path in records for found in peers_of(path)]
    rows, off = 0, 0
    print("peer,operation,job,caches,inside_ms,outside_ms,ratio")
    with open(outside) as file:
        for row in csv.DictReader(file):
            ms = find(inside, row)
            if ms is None:
                continue
            ratio = ms / float(row["ms"])
            rows += 1
            off += is_off(row["caches"], float(row["ms"]), ratio)
            print(f"{row['peer']},{row['operation']},{row['job']},{row['caches']},{ms:.6g},{row['ms']},{ratio:.3f}")
    print(f"{rows} compared, {off} off", file=sys.stderr)
    return 0 if rows > 0 and off == 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
