//! Bugs that were reported of social servers and their libraries, and the tests that would catch each here. Never a
//! test of behaviour itself: this holds that the tests are there.

use std::fs::read_to_string;

/// What went wrong elsewhere, and where it is under test: file and function.
const CASES: &[(&str, &[(&str, &str)])] = &[
    (
        "an order with ties serves items twice or never",
        &[("feed", "fifty_messages_of_one_millisecond_are_served_once_at_any_page_size")],
    ),
    (
        "a page is short, or the feed ends, because rows were filtered out",
        &[
            ("feed", "deleted_messages_leave_full_pages_and_the_flags_true"),
            ("pages", "a_page_that_met_the_bound_is_short_with_a_true_flag_and_a_cursor_that_moved"),
        ],
    ),
    (
        "a cursor is ignored, or means another place, with other arguments",
        &[("pages", "cursors_are_positions_and_nothing_else_is_a_cursor")],
    ),
    (
        "the feed lacks messages after a restart or a flush of Redis",
        &[("feed", "a_lost_inbox_changes_nothing_and_is_built_again")],
    ),
    (
        "the feed stops where the cache ends",
        &[("feed", "the_walk_crosses_from_the_inbox_into_postgres_without_a_seam")],
    ),
    (
        "a message dated in the future stays on top",
        &[("feed", "the_order_is_that_of_publishing_for_every_follower_and_nobody_sets_it")],
    ),
    (
        "large pages lose what small pages show; only the newest few hundred can be reached",
        &[("feed", "all_of_a_thousand_can_be_reached_and_every_page_size_sees_the_same")],
    ),
    (
        "page info is constant, `last` is ignored, `before` is not adjacent",
        &[
            ("pages", "page_sizes_are_checked_and_page_info_is_true_at_both_ends"),
            ("pages", "a_profile_shows_a_persons_own_messages_in_both_directions"),
        ],
    ),
    (
        "messages of somebody unfollowed go on arriving",
        &[("feed", "following_brings_the_history_in_and_unfollowing_takes_it_out_at_once")],
    ),
    (
        "after following, the feed stays empty until the next message",
        &[("feed", "following_brings_the_history_in_and_unfollowing_takes_it_out_at_once")],
    ),
    (
        "following again is a duplicate key, or another row",
        &[
            ("follows", "following_and_unfollowing_again_changes_nothing_and_the_payload_is_of_after_the_write"),
            ("follows", "parallel_follows_make_one_edge_and_the_counters_are_exact"),
        ],
    ),
    (
        "whoever comes back finds an empty feed until it is rebuilt",
        &[("feed", "a_lost_inbox_changes_nothing_and_is_built_again")],
    ),
    (
        "a rebuild takes the newest and filters then: nothing is left",
        &[("feed", "when_the_newest_are_all_deleted_the_older_ones_appear")],
    ),
    (
        "the score is the time of pushing, so followers see different orders",
        &[("feed", "the_order_is_that_of_publishing_for_every_follower_and_nobody_sets_it")],
    ),
    (
        "an old message that is delivered late is never seen by who has passed it",
        &[("feed", "a_walk_goes_on_while_others_post_and_the_worker_stands_still")],
    ),
    (
        "U+0000 in a text or in JSON is an internal error",
        &[
            ("messages", "inputs_are_checked_and_name_their_field"),
            ("pages", "cursors_are_positions_and_nothing_else_is_a_cursor"),
            ("accounts/sign_up", "every_refusal_names_its_field_and_leaves_nothing"),
        ],
    ),
    ("names of invisible characters", &[("accounts/sign_up", "every_refusal_names_its_field_and_leaves_nothing")]),
    ("64-bit ids as numbers", &[("accounts/tokens", "ids_in_a_token_are_texts")]),
    ("lengths are counted in different units on two sides", &[("messages", "inputs_are_checked_and_name_their_field")]),
    (
        "a retry creates again: in parallel, after a lost connection, or as an error",
        &[
            ("messages", "one_key_posts_once_also_in_parallel"),
            ("messages", "a_retry_after_a_lost_connection_posts_nothing_twice"),
        ],
    ),
    (
        "an expired token lives on for a silent leeway",
        &[("accounts/tokens", "a_token_ends_at_its_time_plus_a_small_leeway")],
    ),
    (
        "a revocation is forgotten before its token ends",
        &[("accounts/sessions", "what_has_ended_is_purged_but_never_before_its_access_tokens")],
    ),
    ("claims of a wrong form skip their check", &[("accounts/tokens", "forged_tokens_are_refused")]),
    (
        "a payload shows what was before the write",
        &[
            ("follows", "following_and_unfollowing_again_changes_nothing_and_the_payload_is_of_after_the_write"),
            ("messages", "an_edit_shows_everywhere_at_once_and_keeps_what_was_said"),
        ],
    ),
    (
        "a like is a toggle: a double tap cancels itself, parallel ones count twice, liking again is a duplicate key",
        &[
            ("likes/verbs", "verbs_are_sets_and_the_payload_is_of_after_the_write"),
            ("likes/together", "parallel_duplicates_count_once_on_two_servers"),
        ],
    ),
    (
        "a like that was answered is lost in a crash",
        &[("likes/processes", "a_kill_right_after_the_answers_loses_none")],
    ),
    (
        "counts drift from what is counted",
        &[
            (
                "likes/together",
                "whatever_people_do_at_once_on_two_servers_the_counts_are_a_recount_and_ever_never_falls",
            ),
            ("reconcile", "counters_of_messages"),
            ("reconcile", "counters_of_people"),
        ],
    ),
    (
        "a like of what cannot be seen any more cannot be taken back",
        &[("likes/verbs", "what_cannot_be_seen_cannot_be_liked_but_a_like_of_it_can_be_taken_back")],
    ),
    (
        "a mutation runs over GET, or from a form",
        &[("http", "get_asks_and_never_writes"), ("http", "only_json_in_utf8_is_executed")],
    ),
];

#[test]
fn each_has_its_tests() {
    for (bug, tests) in CASES {
        for (file, test) in *tests {
            let path = format!("{}/tests/front_door/{file}.rs", env!("CARGO_MANIFEST_DIR"));
            let text = read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(text.contains(&format!("]\nasync fn {test}(")), "{bug}: there is no test {test} in {file}.rs");
        }
    }
}
