//! What a script may not hold, and where it is said to be.

use std::sync::Arc;

use redolab_script::{MOST_BYTES, Script, Seeds, Step, Walk};

fn refused(file: &str) -> String {
    Script::read(file).unwrap_err().to_string()
}

#[test]
fn a_fault_has_its_line_and_its_column() {
    for (file, said) in [
        ("SELECT 1;\n\\set x 1 +\n", "2:11: the expression ends too early"),
        ("\\set x 1 2", "1:10: 2 cannot come here in an expression"),
        ("\\set x nothing(1)", "1:8: there is no function nothing"),
        ("\\set x random(1)", "1:8: random takes 2 arguments, and this gives 1"),
        ("\\set 1x 1", "1:6: \"1x\" is not a variable's name"),
        ("\\set x 9223372036854775808", "1:8: 9223372036854775808 is too great"),
        ("\\set x 1 < 2 < 3", "1:14: < cannot come here"),
        ("\\if true\nSELECT 1;", "1:1: this \\if has no \\endif"),
        ("\\endif", "1:1: this \\endif has no \\if"),
        ("\\if 1\n\\else\n\\elif 1\n\\endif", "3:1: \\elif after \\else"),
        ("SELECT 1;\n  \\gset", "2:3: \\gset must follow a statement"),
        ("\\startpipeline\nSELECT 1;", "1:1: this pipeline has no \\endpipeline"),
        ("\\endpipeline", "1:1: \\endpipeline without \\startpipeline"),
        ("\\startpipeline\nSELECT 1 AS x \\gset\n\\endpipeline", "2:15: \\gset needs an answer"),
        ("\\sleep 1.5 s", "1:8: \\sleep takes a whole number"),
        ("\\sleep 15 min", "1:11: the unit of \\sleep is us, ms or s"),
        ("\\frobnicate 1", "1:1: \\frobnicate is not a meta command of pgbench's"),
        ("SELECT 'x", "1:8: this quoted text does not end"),
        ("SELECT 1; /* x", "1:11: this comment does not end"),
        ("-- nothing\n", "1:1: the script has neither"),
    ] {
        let told = refused(file);
        assert!(told.starts_with(said), "{file:?}: {told}");
    }
}

#[test]
fn what_is_gone_is_answered_by_its_new_form() {
    for (old, new) in [
        ("\\setrandom id 1 :scale", "\\set id random(1, :scale)"),
        ("\\setrandom id 1 10 uniform", "\\set id random(1, 10)"),
        ("\\setrandom id 1 10 gaussian 2.5", "\\set id random_gaussian(1, 10, 2.5)"),
        ("\\setrandom id 1 10 exponential 3", "\\set id random_exponential(1, 10, 3)"),
    ] {
        assert_eq!(
            refused(old),
            format!("1:1: \\setrandom is gone since pgbench 9.6: write {new}")
        );
    }
}

#[test]
fn a_script_starts_no_program() {
    for file in ["\\shell rm -rf x", "SELECT 1;\n\\setshell x date"] {
        assert!(refused(file).contains("starts a program"), "{file}");
    }
}

#[test]
fn what_comes_from_outside_has_bounds() {
    assert!(refused(&"-".repeat(MOST_BYTES + 1)).contains("has at most"));
    for deep in
        ["(".repeat(100_000), "-".repeat(100_000), "not ".repeat(100_000), "1+".repeat(100_000)]
    {
        assert!(refused(&format!("\\set x {deep}1")).contains("200"), "{}", &deep[..10]);
    }
    assert!(refused(&format!("SELECT {};", ":x,".repeat(256))).contains("at most 255 variables"));
}

fn first_step(file: &str) -> Result<Step, String> {
    let scripts: Arc<[_]> = Arc::new([(Script::read(file).unwrap(), 1)]);
    let mut walk = Walk::new(scripts, 0, Seeds::of(1, 0, 1), &[]);
    walk.begin();
    walk.step().map_err(|fault| fault.to_string())
}

#[test]
fn what_cannot_be_computed_is_told_with_its_place() {
    for (file, said) in [
        ("\\set x 1 / 0", "1:8: division by zero"),
        (
            "\\set x 9223372036854775807 + 1",
            "1:8: 9223372036854775807 plus 1 is too great for an int",
        ),
        ("\\set x :y", "1:8: the variable y has no value"),
        ("\\set x true + 1", "1:8: an int is needed here, and this is the boolean true"),
        ("\\set x random(2, 1)", "1:8: random has an empty range: 2 is greater than 1"),
        (
            "\\set x random_gaussian(1, 9, 1.5)",
            "1:8: the third argument of random_gaussian must be at least 2",
        ),
        (
            "\\set x random_zipfian(1, 9, 1)",
            "1:8: the third argument of random_zipfian must be from 1.001 to 1000",
        ),
        ("\\set x permute(1, 0)", "1:8: permute needs a size greater than 0"),
    ] {
        let told = first_step(file).unwrap_err();
        assert!(told.starts_with(said), "{file:?}: {told}");
    }
}

#[test]
fn a_transaction_can_be_done_once_more_with_the_same_random_numbers() {
    let file = "\\set x random(1, 1000000000)\nSELECT :x;";
    let scripts: Arc<[_]> = Arc::new([(Script::read(file).unwrap(), 1)]);
    let mut walk = Walk::new(Arc::clone(&scripts), 0, Seeds::of(1, 0, 1), &[]);
    let sent = |walk: &mut Walk| {
        let Step::Execute { script, command } = walk.step().unwrap() else { panic!("a statement") };
        walk.filled(scripts[script].0.statement(command).unwrap().0)
    };
    walk.begin();
    walk.remember();
    let first = sent(&mut walk);
    walk.again();
    assert_eq!(sent(&mut walk), first);
    walk.begin();
    assert_ne!(sent(&mut walk), first);
}
