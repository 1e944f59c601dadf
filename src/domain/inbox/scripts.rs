//! What has to happen in Redis in one go, as scripts on one key: an inbox, or the heartbeat.

use std::sync::LazyLock;

use redis::Script;

/// Finishes a build: if the start marker is still there, the references join what was delivered
/// meanwhile, the newest of all stay, and the finished marker replaces the start marker.
///
/// A cut never divides a millisecond: the horizon goes above the first that does not fit whole. The set is
/// written anew so that it never holds more than the window, not even for a moment.
///
/// Key: inbox. Arguments: start marker, marker prefix, horizon (ms), window, then score and member of each
/// reference. Answers 1, or 0 if the start marker was gone.
pub static FINISH: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
        redis.call('ZREM', KEYS[1], ARGV[1])
        local score = {}
        local members = {}
        local function add(member, at)
            if not score[member] then members[#members + 1] = member end
            score[member] = tonumber(at)
        end
        local there = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
        for i = 1, #there, 2 do add(there[i], there[i + 1]) end
        for i = 5, #ARGV, 2 do add(ARGV[i + 1], ARGV[i]) end
        table.sort(members, function(a, b) return score[a] > score[b] end)
        local horizon = tonumber(ARGV[3])
        local window = tonumber(ARGV[4])
        if #members > window then horizon = math.max(horizon, score[members[window + 1]] + 1) end
        redis.call('DEL', KEYS[1])
        redis.call('ZADD', KEYS[1], 0, ARGV[2] .. string.format('%.0f', horizon))
        for _, member in ipairs(members) do
            if score[member] < horizon then break end
            redis.call('ZADD', KEYS[1], score[member], member)
        end
        return 1
        ",
    )
});

/// Trims an inbox to its window and its age, and raises the horizon above what went. One without a finished marker is
/// dropped: whatever is building it will find that and begin again.
///
/// Key: inbox. Arguments: window, oldest (ms). Answers how many members are left.
pub static TRIM: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local first = redis.call('ZRANGE', KEYS[1], 0, 0)
        if #first == 0 then return 0 end
        local prefix, horizon = string.match(first[1], '^(#%d+:%d+:)(%d+)$')
        if not prefix then
            redis.call('UNLINK', KEYS[1])
            return 0
        end
        local window = tonumber(ARGV[1])
        local cut = redis.call('ZREVRANGE', KEYS[1], window, window, 'WITHSCORES')
        local from = 0
        if #cut > 0 and cut[1] ~= first[1] then from = tonumber(cut[2]) + 1 end
        if redis.call('ZCOUNT', KEYS[1], 1, '(' .. ARGV[2]) > 0 then from = math.max(from, tonumber(ARGV[2])) end
        if from == 0 then return redis.call('ZCARD', KEYS[1]) end
        redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', from))
        horizon = math.max(tonumber(horizon), from)
        redis.call('ZADD', KEYS[1], 0, prefix .. string.format('%.0f', horizon))
        return redis.call('ZCARD', KEYS[1])
        ",
    )
});

/// Raises the heartbeat if it is where it should be, or where it goes.
///
/// Key: heartbeat. Arguments: where it was last, where it goes. Answers 1, or 0 if it is anywhere else.
pub static BEAT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local at = tonumber(redis.call('GET', KEYS[1]) or '0')
        if at < tonumber(ARGV[1]) or at > tonumber(ARGV[2]) then return 0 end
        redis.call('SET', KEYS[1], ARGV[2])
        return 1
        ",
    )
});
