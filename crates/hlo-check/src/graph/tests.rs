//! What is in graphs.

use super::*;

fn module(text: &str) -> Module {
    hlo_text::parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

const TEXT: &str = "HloModule m\n\n\
    f {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] abs(x)\n}\n\n\
    ENTRY e {\n  p = f32[2] parameter(0)\n  a = f32[2] call(p), to_apply=f\n  b = f32[2] sine(a)\n  \
    c = f32[2] cosine(b), control-predecessors={p}\n  ROOT d = f32[2] add(c, c)\n}\n";

fn names(graph: &Graph<'_>, side: usize) -> Vec<String> {
    let side = &graph.sides[side];
    let nodes = side.clusters.iter().flat_map(|cluster| &cluster.nodes);
    nodes.map(|node| side.module.name_of(node.id).to_owned()).collect()
}

fn around(name: &str, radius: usize) -> GraphOptions {
    GraphOptions { around: Some((name.to_owned(), radius)) }
}

#[test]
fn the_entry_comes_first() {
    let module = module(TEXT);
    let graph = Graph::of("t", &module, &GraphOptions::default()).expect("a graph");
    assert_eq!(names(&graph, 0), ["p", "a", "b", "c", "d", "x", "y"]);
}

#[test]
fn a_part_can_be_shown() {
    let module = module(TEXT);
    let of =
        |name: &str, radius| Graph::of("t", &module, &around(name, radius)).map(|graph| names(&graph, 0));
    assert_eq!(of("%b", 1), Ok(vec!["a".into(), "b".into(), "c".into()]));
    assert_eq!(of("b", 0), Ok(vec!["b".into()]));
    // Control edges are edges, and what is called belongs to the call.
    assert_eq!(of("c", 1), Ok(vec!["p".into(), "b".into(), "c".into(), "d".into()]));
    assert_eq!(of("a", 0), Ok(vec!["a".into(), "x".into(), "y".into()]));
    assert_eq!(of("p", usize::MAX).map(|names| names.len()), Ok(5));
    let wrong = NoSuchInstruction { name: "sine.1".into(), close: None };
    assert_eq!(of("sine.1", 1), Err(wrong));
}

#[test]
fn two_modules_say_what_is_different() {
    let before = module(TEXT);
    let after = module(&TEXT.replace("b = f32[2] sine(a)", "n = f32[2] negate(a)\n  b = f32[2] sine(n)"));
    let graph = Graph::of_both(("old", &before), ("new", &after), &GraphOptions::default()).expect("a graph");
    let changes = |side: usize| {
        let side = &graph.sides[side];
        let nodes = side.clusters.iter().flat_map(|cluster| &cluster.nodes);
        nodes
            .filter(|node| node.change != Some(Kind::Same))
            .map(|node| (side.module.name_of(node.id).to_owned(), node.change.map(word)))
            .collect::<Vec<_>>()
    };
    assert_eq!(changes(0), [("b".to_owned(), Some("changed"))]);
    assert_eq!(changes(1), [("n".to_owned(), Some("added")), ("b".to_owned(), Some("changed"))]);
    let pair = |side: usize, name: &str| {
        let side = &graph.sides[side];
        let mut nodes = side.clusters.iter().flat_map(|cluster| &cluster.nodes);
        nodes.find(|node| side.module.name_of(node.id) == name).and_then(|node| node.counterpart)
    };
    assert_eq!(pair(0, "d"), Some(graph.sides[1].numbers[&select::find(&after, "d").expect("d")]));
    assert_eq!(pair(1, "n"), None);
    // What is only in one of them can be asked for.
    let one = Graph::of_both(("old", &before), ("new", &after), &around("n", 1)).expect("a graph");
    // The other side shows what is around its neighbours.
    assert_eq!((names(&one, 0).len(), names(&one, 1).len()), (4, 3));
    assert_eq!(one.note(), Some("%n is not in old; its users have %a there"));
    assert!(Graph::of_both(("old", &before), ("new", &after), &around("zzz", 1)).is_err());
}

#[test]
fn what_stands_in_the_place_of_something_gone_is_shown() {
    let with = |lines: &str| {
        module(&format!(
            "HloModule m\n\nENTRY e {{\n  p = f32[2] parameter(0)\n  far = f32[2] tan(p)\n{lines}}}\n"
        ))
    };
    let before = with(
        "  a = f32[2] sine(p)\n  b = f32[2] sine(p)\n  dead = f32[2] exponential(b)\n  more = f32[2] abs(dead)\n  \
         more.1 = f32[2] negate(more)\n  more.2 = f32[2] log(more.1)\n  c = f32[2] cosine(b)\n  \
         ROOT r = f32[2] add(a, c)\n",
    );
    let after = with("  a = f32[2] sine(p)\n  c = f32[2] cosine(a)\n  ROOT r = f32[2] add(a, c)\n");
    let around = |name: &str, radius| {
        Graph::of_both(("old", &before), ("new", &after), &around(name, radius)).expect("a graph")
    };
    let graph = around("%b", 1);
    assert_eq!(names(&graph, 1), ["p", "far", "a", "c", "r"]);
    assert_eq!(graph.note(), Some("%b is not in new; its users have %a there"));
    // Its neighbours are gone as well.
    let graph = around("more", 3);
    assert!(names(&graph, 1).contains(&"c".to_owned()), "{:?}", names(&graph, 1));
    assert_eq!(graph.note(), Some("%more is not in new; what is left of its neighbours is shown there"));
    let graph = around("more.1", 1);
    assert_eq!(names(&graph, 1), [""; 0]);
    assert_eq!(graph.note(), Some("%more.1 is not in new, and nothing near it either"));
    assert_eq!(around("c", 1).note(), None);
}

#[test]
fn hostile_texts_stay_texts() {
    let hostile = "\\\"];x->y;</script><script>alert(1)</script>&amp;";
    let text = TEXT.replace(
        "b = f32[2] sine(a)",
        &format!("b = f32[2] custom-call(a), custom_call_target=\"{hostile}\""),
    );
    let module = module(&text);
    let graph = Graph::of("</title><b>\"", &module, &GraphOptions::default()).expect("a graph");
    let page = graph.render(Format::Html);
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("<title>&lt;/title&gt;&lt;b&gt;&quot;</title>"));
    let begin = page.find("id=\"data\">").expect("data") + "id=\"data\">".len();
    let end = begin + page[begin..].find("</script>").expect("its end");
    let data: serde_json::Value = serde_json::from_str(&page[begin..end]).expect("JSON");
    let shown = data["sides"][0]["nodes"][2]["t"].as_str().expect("text");
    assert_eq!(
        shown,
        module.print_instruction(select::find(&module, "b").expect("b"), &PrintOptions::default())
    );
    // In DOT every quote inside is escaped.
    for line in graph.render(Format::Dot).lines() {
        let mut inside = false;
        let mut escaped = false;
        for c in line.chars() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => inside = !inside,
                ';' if !inside => assert!(line.ends_with(';') || line.contains("subgraph"), "{line}"),
                _ => {}
            }
        }
        assert!(!inside, "{line}");
    }
}

#[test]
fn the_page_loads_nothing() {
    let module = module(TEXT);
    let page = Graph::of("t", &module, &GraphOptions::default()).expect("a graph").render(Format::Html);
    for word in ["src=", "href=", "url(", "import ", "fetch(", "innerHTML"] {
        assert!(!page.contains(word), "{word}");
    }
    let links: Vec<_> = page.match_indices("http").map(|(at, _)| &page[at..at + 12]).collect();
    assert_eq!(links, ["http-equiv=\"", "http://www.w"]);
}
