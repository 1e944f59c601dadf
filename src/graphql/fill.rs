//! How a page is filled from candidates that a gate may deny, with flags that are true in both directions. Never what is
//! denied, and why.

use crate::error::Result;
use crate::page::{Request, Side};

/// Where the candidates of a connection come from. Every connection is ordered by position, newest
/// (highest) first, and a position stands for at most one candidate.
pub trait Source: Send + Sync {
    /// What is known of an item before the gate.
    type Candidate: Send + Sync;
    /// What a client gets for it.
    type Node: Send;

    /// The position of a candidate.
    fn position(candidate: &Self::Candidate) -> i64;

    /// At most `limit` candidates below the position `below`, newest first; fewer only if there are no more.
    fn older(&self, below: i64, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;

    /// At most `limit` candidates above the position `above`, oldest first; fewer only if there are no more.
    fn newer(&self, above: i64, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;

    /// What the viewer may see of each candidate, in their order: `None` for what is denied.
    fn admit(&self, candidates: &[Self::Candidate]) -> impl Future<Output = Result<Vec<Option<Self::Node>>>> + Send;
}

/// Which flags are selected; the others are not worth a look beyond the page.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// `hasNextPage`
    pub next: bool,
    /// `hasPreviousPage`
    pub previous: bool,
}

/// A filled page, in positions.
#[derive(Debug, PartialEq)]
pub struct Filled<N> {
    /// The items, newest first.
    pub items: Vec<(i64, N)>,
    /// Whether there is something older than it.
    pub has_next: bool,
    /// Whether there is something newer than it.
    pub has_previous: bool,
    /// From where to go towards newer items.
    pub start: Option<i64>,
    /// From where to go towards older items.
    pub end: Option<i64>,
}

/// Fills the page that `request` asks for out of `source`, looking at about `bound` candidates at most.
///
/// Errors: those of the source.
pub async fn fill<S: Source>(source: &S, request: Request, wanted: Wanted, bound: usize) -> Result<Filled<S::Node>> {
    // `ahead` is the direction in which the page is filled, `behind` where it was asked from.
    let (ahead, from, until) = match request.side {
        Side::First => (Direction::Older, request.below, request.above),
        Side::Last => (Direction::Newer, request.above, request.below),
    };
    let (want_ahead, want_behind) = match request.side {
        Side::First => (wanted.next, wanted.previous),
        Side::Last => (wanted.previous, wanted.next),
    };
    let start = from.unwrap_or(ahead.start());
    let mut page = Scan::new(ahead, start, until, request.size + usize::from(want_ahead));
    let behind = ahead.opposite();
    let mut back = Scan::new(behind, behind.one_before(start), None, usize::from(want_behind && from.is_some()));
    run(source, [&mut page, &mut back], bound).await?;
    let mut has_ahead = page.found.len() > request.size || page.stopped_at.is_some();
    page.found.truncate(request.size);
    if let (true, false, Some(until)) = (want_ahead, has_ahead, until) {
        let mut beyond = Scan::new(ahead, ahead.one_before(until), None, 1);
        run(source, [&mut beyond], bound).await?;
        has_ahead = beyond.has_any();
    }
    let has_behind = back.has_any();
    // Only a page that met the bound may be short; its cursor then stands where the search stopped.
    let last = match page.stopped_at {
        Some(stopped_at) if page.found.len() < request.size => Some(stopped_at),
        _ => page.found.last().map(|(position, _)| *position),
    };
    let first = page.found.first().map(|(position, _)| *position).or(last);
    Ok(match request.side {
        Side::First => {
            Filled { items: page.found, has_next: has_ahead, has_previous: has_behind, start: first, end: last }
        }
        Side::Last => {
            page.found.reverse();
            Filled { items: page.found, has_next: has_behind, has_previous: has_ahead, start: last, end: first }
        }
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Older,
    Newer,
}

impl Direction {
    fn opposite(self) -> Self {
        match self {
            Self::Older => Self::Newer,
            Self::Newer => Self::Older,
        }
    }

    /// The position before the first.
    fn start(self) -> i64 {
        match self {
            Self::Older => i64::MAX,
            Self::Newer => i64::MIN,
        }
    }

    /// The exclusive bound from which `position` itself is the first to be met.
    fn one_before(self, position: i64) -> i64 {
        match self {
            Self::Older => position.saturating_add(1),
            Self::Newer => position.saturating_sub(1),
        }
    }

    fn reaches(self, position: i64, until: i64) -> bool {
        match self {
            Self::Older => position <= until,
            Self::Newer => position >= until,
        }
    }
}

/// The largest window that is asked for at once.
const WINDOW: usize = 500;

/// A look in one direction, in growing windows, until enough was found.
struct Scan<N> {
    direction: Direction,
    /// Exclusive.
    from: i64,
    until: Option<i64>,
    want: usize,
    window: usize,
    looked_at: usize,
    /// Whether nothing comes after the last window.
    is_last: bool,
    is_over: bool,
    found: Vec<(i64, N)>,
    /// Where the search met the bound on candidates, if it did before it found enough.
    stopped_at: Option<i64>,
}

impl<N> Scan<N> {
    fn new(direction: Direction, from: i64, until: Option<i64>, want: usize) -> Self {
        Self {
            direction,
            from,
            until,
            want,
            window: want,
            looked_at: 0,
            is_last: false,
            is_over: want == 0,
            found: Vec::with_capacity(want),
            stopped_at: None,
        }
    }

    fn has_any(&self) -> bool {
        !self.found.is_empty() || self.stopped_at.is_some()
    }

    /// The next window.
    async fn look<S: Source<Node = N>>(&mut self, source: &S) -> Result<Vec<S::Candidate>> {
        let mut candidates = match self.direction {
            Direction::Older => source.older(self.from, self.window).await?,
            Direction::Newer => source.newer(self.from, self.window).await?,
        };
        let asked = candidates.len();
        if let Some(until) = self.until {
            candidates.retain(|candidate| !self.direction.reaches(S::position(candidate), until));
        }
        self.is_last = asked < self.window || candidates.len() < asked;
        self.looked_at += asked;
        Ok(candidates)
    }

    /// What became of that window.
    fn take(&mut self, judged: impl Iterator<Item = (i64, Option<N>)>, bound: usize) {
        for (position, node) in judged {
            self.from = position;
            self.found.extend(node.map(|node| (position, node)));
        }
        if self.found.len() >= self.want || self.is_last {
            self.found.truncate(self.want);
            self.is_over = true;
        } else if self.looked_at >= bound {
            self.stopped_at = Some(self.from);
            self.is_over = true;
        } else {
            self.window = (self.window * 2).min(WINDOW);
        }
    }
}

/// Goes on with these until each is over. What they look at in one round is judged in one wave.
async fn run<S: Source, const SCANS: usize>(
    source: &S,
    scans: [&mut Scan<S::Node>; SCANS],
    bound: usize,
) -> Result<()> {
    let mut open: Vec<_> = scans.into_iter().filter(|scan| !scan.is_over).collect();
    while !open.is_empty() {
        let (mut candidates, mut windows) = (Vec::new(), Vec::with_capacity(open.len()));
        for scan in &mut open {
            let window = scan.look(source).await?;
            windows.push(window.len());
            candidates.extend(window);
        }
        let nodes = source.admit(&candidates).await?;
        let mut judged = candidates.iter().map(S::position).zip(nodes);
        for (scan, window) in open.iter_mut().zip(windows) {
            scan.take(judged.by_ref().take(window), bound);
        }
        open.retain(|scan| !scan.is_over);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::*;

    /// Positions 0.. with the given visibility.
    struct List(Vec<bool>);

    impl Source for List {
        type Candidate = i64;
        type Node = i64;

        fn position(candidate: &i64) -> i64 {
            *candidate
        }

        async fn older(&self, below: i64, limit: usize) -> Result<Vec<i64>> {
            Ok((0..self.0.len() as i64).rev().filter(|p| *p < below).take(limit).collect())
        }

        async fn newer(&self, above: i64, limit: usize) -> Result<Vec<i64>> {
            Ok((0..self.0.len() as i64).filter(|p| *p > above).take(limit).collect())
        }

        async fn admit(&self, candidates: &[i64]) -> Result<Vec<Option<i64>>> {
            Ok(candidates.iter().map(|p| self.0[*p as usize].then_some(*p)).collect())
        }
    }

    fn ask(list: &List, request: Request, bound: usize) -> Filled<i64> {
        let wanted = Wanted { next: true, previous: true };
        fill(list, request, wanted, bound).now_or_never().expect("nothing waits").expect("nothing fails")
    }

    proptest! {
        #[test]
        fn a_page_is_what_the_definition_says(
            visible in prop::collection::vec(any::<bool>(), 0..60),
            size in 1_usize..8,
            below in prop::option::of(-2_i64..62),
            above in prop::option::of(-2_i64..62),
            is_first: bool,
        ) {
            let list = List(visible);
            let side = if is_first { Side::First } else { Side::Last };
            let all: Vec<i64> = (0..list.0.len() as i64).rev().filter(|p| list.0[*p as usize]).collect();
            let range: Vec<i64> = all.iter().copied()
                .filter(|p| below.is_none_or(|below| *p < below) && above.is_none_or(|above| *p > above)).collect();
            let expected: Vec<i64> = match side {
                Side::First => range.iter().copied().take(size).collect(),
                Side::Last => range[range.len().saturating_sub(size)..].to_vec(),
            };
            let filled = ask(&list, Request { side, size, below, above }, usize::MAX);
            let got: Vec<i64> = filled.items.iter().map(|(_, node)| *node).collect();
            prop_assert_eq!(&got, &expected);
            // Beyond the page, or beyond the range if the page is empty.
            let beyond_old = got.last().copied().or(above.map(|a| a.saturating_add(1)));
            let beyond_new = got.first().copied().or(below.map(|b| b.saturating_sub(1)));
            match side {
                Side::First => {
                    let from = beyond_old.unwrap_or(i64::MIN);
                    prop_assert_eq!(filled.has_next, all.iter().any(|p| *p < from));
                    prop_assert_eq!(filled.has_previous, below.is_some_and(|b| all.iter().any(|p| *p >= b)));
                }
                Side::Last => {
                    let from = beyond_new.unwrap_or(i64::MAX);
                    prop_assert_eq!(filled.has_previous, all.iter().any(|p| *p > from));
                    prop_assert_eq!(filled.has_next, above.is_some_and(|a| all.iter().any(|p| *p <= a)));
                }
            }
        }

        #[test]
        fn a_walk_serves_each_visible_item_once_also_when_it_meets_the_bound(
            visible in prop::collection::vec(prop::bool::weighted(0.1), 0..200),
            size in 1_usize..8,
            bound in 1_usize..20,
            is_first: bool,
        ) {
            let list = List(visible);
            let side = if is_first { Side::First } else { Side::Last };
            let (mut walked, mut cursor) = (Vec::new(), None);
            loop {
                let (below, above) = if is_first { (cursor, None) } else { (None, cursor) };
                let filled = ask(&list, Request { side, size, below, above }, bound);
                let page: Vec<i64> = filled.items.iter().map(|(_, node)| *node).collect();
                if is_first { walked.extend(page) } else { walked.splice(0..0, page); }
                if !(if is_first { filled.has_next } else { filled.has_previous }) { break; }
                let next = if is_first { filled.end } else { filled.start };
                prop_assert!(next.is_some() && next != cursor, "the cursor moves");
                cursor = next;
            }
            let all: Vec<i64> = (0..list.0.len() as i64).rev().filter(|p| list.0[*p as usize]).collect();
            prop_assert_eq!(walked, all);
        }
    }
}
