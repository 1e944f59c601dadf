//! The tables as diesel sees them, kept equal to `migrations/` by hand and by a test.
//! What a row means lives with the room that owns it.

#![allow(missing_docs, reason = "the names are those of the columns")]

diesel::table! {
    nodes (node) {
        node -> SmallInt,
        holder -> Uuid,
        leased_until -> Timestamptz,
        high_water -> BigInt,
    }
}

diesel::table! {
    users (id) {
        id -> BigInt,
        handle -> Text,
        display_name -> Text,
        bio -> Text,
        avatar_url -> Nullable<Text>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    credentials (user_id) {
        user_id -> BigInt,
        password_hash -> Text,
        changed_at -> Timestamptz,
    }
}

diesel::table! {
    user_counters (user_id) {
        user_id -> BigInt,
        message_count -> BigInt,
        follower_count -> BigInt,
        following_count -> BigInt,
    }
}

diesel::table! {
    sessions (id) {
        id -> BigInt,
        user_id -> BigInt,
        user_agent -> Text,
        created_at -> Timestamptz,
        last_used_at -> Timestamptz,
        expires_at -> Timestamptz,
        revoked_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    refresh_tokens (token_hash) {
        token_hash -> Bytea,
        session_id -> BigInt,
        created_at -> Timestamptz,
        used_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    follows (followee_id, follower_id) {
        followee_id -> BigInt,
        follower_id -> BigInt,
        id -> BigInt,
        is_close -> Bool,
        is_hot -> Bool,
        extra -> Jsonb,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    messages (id) {
        id -> BigInt,
        author_id -> BigInt,
        channel -> Text,
        kind -> Text,
        status -> Text,
        title -> Nullable<Text>,
        content -> Text,
        extra -> Jsonb,
        version -> Integer,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        deleted_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    message_versions (message_id, version) {
        message_id -> BigInt,
        version -> Integer,
        title -> Nullable<Text>,
        content -> Text,
        extra -> Jsonb,
        written_at -> Timestamptz,
    }
}

diesel::table! {
    idempotency_keys (user_id, verb, key) {
        user_id -> BigInt,
        verb -> Text,
        key -> Text,
        input_hash -> Bytea,
        result_id -> BigInt,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    jobs (id) {
        id -> BigInt,
        kind -> Text,
        payload -> Jsonb,
        dedupe_key -> Nullable<Text>,
        run_at -> Timestamptz,
        attempts -> Integer,
        leased_until -> Nullable<Timestamptz>,
        lease -> Nullable<Uuid>,
        last_error -> Nullable<Text>,
        created_at -> Timestamptz,
        buried_at -> Nullable<Timestamptz>,
        failures -> Integer,
        due_by -> Timestamptz,
    }
}

diesel::table! {
    activity (user_id, channel) {
        user_id -> BigInt,
        channel -> Text,
        is_hot -> Bool,
        generation -> BigInt,
        read_at -> Timestamptz,
    }
}

diesel::table! {
    author_channels (author_id, channel) {
        author_id -> BigInt,
        channel -> Text,
        newest_id -> BigInt,
        is_pulled -> Bool,
        last_pulled_id -> BigInt,
    }
}

diesel::table! {
    inbox_epoch (is_only) {
        is_only -> Bool,
        epoch -> BigInt,
        run_id -> Text,
        heartbeat -> BigInt,
    }
}

diesel::table! {
    in_flight (message_id) {
        message_id -> BigInt,
        author_id -> BigInt,
        channel -> Text,
        delivered_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    likes (message_id, user_id) {
        message_id -> BigInt,
        user_id -> BigInt,
        id -> BigInt,
        author_id -> BigInt,
        created_at -> Timestamptz,
        cancelled_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    message_counters (message_id) {
        message_id -> BigInt,
        author_id -> BigInt,
        like_count -> BigInt,
        like_ever_count -> BigInt,
    }
}

diesel::table! {
    reading_places (user_id, channel, filter) {
        user_id -> BigInt,
        channel -> Text,
        filter -> Text,
        position -> BigInt,
        marked_at -> Timestamptz,
    }
}

diesel::allow_tables_to_appear_in_same_query!(users, user_counters, credentials);
diesel::allow_tables_to_appear_in_same_query!(sessions, refresh_tokens);
diesel::allow_tables_to_appear_in_same_query!(follows, activity);
