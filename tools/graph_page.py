#!/usr/bin/env python3
"""Opens a page of `hlo-check graph` in headless Chromium and uses it: folds, searches, clicks.

usage: tools/graph_page.py HLO_CHECK [FILE [FILE2]]

Without files it makes two small modules with hostile names. The script that uses the page is added to a copy of it;
what it found out comes back in the dumped document. Needs `chromium` (or what the variable CHROMIUM names).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

BEFORE = r"""HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  t.2 = f32[4] custom-call(x), custom_call_target="</script><img src=x onerror=alert(1)>"
  ROOT r = f32[] reduce(t.2, zero), dimensions={0}, to_apply=sum
}
"""
AFTER = BEFORE.replace("  ROOT r", "  n.1 = f32[4] negate(t.2)\n  ROOT r").replace("reduce(t.2", "reduce(n.1")

# Runs after the page's own script. Everything is synchronous but `toggle`, which comes with the next task.
PROBE = """
<script>
setTimeout(() => {
  const report = {};
  try {
    const sections = [...document.querySelectorAll("section")];
    report.sides = sections.length;
    report.details = document.querySelectorAll("details").length;
    report.open = [...document.querySelectorAll("details[open]")].length;
    report.rows = sections.map(section => section.querySelectorAll(".row").length);
    report.nodes = data.sides.map(side => side.nodes.length);
    report.images = document.querySelectorAll("img").length;
    report.loaded = performance.getEntriesByType("resource").length;
    report.hints = document.querySelectorAll(".hint").length;
    report.keys = document.querySelectorAll("footer .key").length;
    report.buttons = document.querySelectorAll("#next, #previous").length;
    const kinds = new Set(["added", "removed", "changed", "renamed", "moved"]);
    const known = data.sides.flatMap(side => side.nodes.filter(node => kinds.has(node.k)));
    report.differences = differences.length;
    // What is changed is on both sides, but one difference.
    report.expected = known.filter(node => node.p === undefined).length
      + known.filter(node => node.p !== undefined).length / 2;
    report.visited = new Set();
    for (let at = 0; at < differences.length; at++) {
      document.getElementById("next").click();
      for (const made of document.querySelectorAll(".row.selected")) report.visited.add(made.textContent);
    }
    report.visited = report.visited.size;
    report.position = document.getElementById("position")?.textContent;
    const row = sections[0].querySelector(".row");
    row.click();
    report.selected = sections.map(section => section.querySelectorAll(".row.selected").length);
    report.pictures = sections.map(section => section.querySelectorAll("svg g").length);
    const input = document.getElementById("search");
    const word = data.sides[0].nodes[data.sides[0].nodes.length - 1].n;
    input.value = "%" + word + " =";
    input.dispatchEvent(new Event("input"));
    report.found = document.getElementById("count").textContent;
    report.matches = sections[0].querySelectorAll(".row").length;
    document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
    report.afterEscape = document.querySelectorAll("details").length;
    report.first = sections[0].querySelector(".row").textContent;
  } catch (error) {
    report.error = String(error);
  }
  document.title = "report:" + JSON.stringify(report);
}, 300);
</script>
</body>
"""


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit(__doc__)
    program, files = os.path.abspath(arguments[0]), arguments[1:]
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            files = []
            for name, text in (("before.hlo", BEFORE), ("after.hlo", AFTER)):
                files.append(os.path.join(folder, name))
                with open(files[-1], "w") as file:
                    file.write(text)
        page = os.path.join(folder, "page.html")
        begun = time.monotonic()
        subprocess.run([program, "graph", *files, "--format=html", "-o", page], check=True)
        print(f"page: {os.path.getsize(page)} bytes in {time.monotonic() - begun:.2f} s")
        with open(page) as file:
            text = file.read()
        with open(page, "w") as file:
            file.write(text.replace("</body>\n", PROBE))
        browser = os.environ.get("CHROMIUM", "chromium")
        begun = time.monotonic()
        dump = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
             "--virtual-time-budget=20000", "--dump-dom", "file://" + page],
            check=True, capture_output=True, text=True, timeout=300,
        ).stdout
        print(f"browser: {time.monotonic() - begun:.2f} s")
    found = re.search(r"<title>report:(.*?)</title>", dump)
    if not found:
        sys.exit("the page's script did not run to its end")
    report = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    print(json.dumps(report, indent=1))
    sides = min(len(files), 2)
    expected = {
        "one section for each module": report.get("sides") == sides,
        "the entries are open, the other computations closed": report.get("open") == sides,
        "rows are shown": all(report.get("rows", [0])),
        "nothing of the modules has become an element": report.get("images") == 0,
        "nothing is loaded": report.get("loaded") == 0,
        "a click selects": report.get("selected", [0])[0] == 1,
        "a click draws": report.get("pictures", [0])[0] > 0,
        "a hint says what to do": report.get("hints") == sides,
        "a legend explains the colours": report.get("keys", 0) == (7 if sides == 2 else 2),
        "two modules have buttons for their differences": report.get("buttons") == (2 if sides == 2 else 0),
        "every difference can be gone to": report.get("differences") == (report.get("expected") if sides == 2 else 0),
        "going to differences selects": report.get("visited", 0) >= min(report.get("differences", 0), 1),
        "search finds": report.get("matches", 0) >= 1,
        "Escape ends the search": report.get("afterEscape") == report.get("details"),
        "no error": "error" not in report,
    }
    for what, holds in expected.items():
        print("ok  " if holds else "FAIL", what)
    sys.exit(0 if all(expected.values()) else 1)


if __name__ == "__main__":
    main()
