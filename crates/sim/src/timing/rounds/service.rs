//! Requests of all clusters to the levels that all share, served in the order of simulated time.
//!
//! One thread at a time does this, beside others that simulate clusters in later rounds. It touches the levels that all share,
//! device memory and the host's writes, and of the clusters only their queues.

use std::collections::VecDeque;
use std::iter::Peekable;

use super::super::super::HostWrite;
use super::super::super::hierarchy::deferred::{Reply, Request, Timestamp};
use super::super::super::hierarchy::line::LineBox;
use super::super::super::hierarchy::lower_levels::LowerLevels;
use super::super::super::hierarchy::undecided::LateReply;
use super::super::sm::LaunchContext;
use super::super::sm_cluster::{NEVER, SmCluster};
use super::ClusterProgress;

/// So many requests of a cluster lie between the one that is served and the one for which the host may fetch the state of its line
/// into its caches, and twice as many to the one for which it may fetch where to look.
const AHEAD: usize = 3;

/// What one thread at a time serves requests with.
pub(super) struct Service<'a, 'b> {
    pub(super) lower: &'b mut Option<Box<LowerLevels>>,
    pub(super) host: Peekable<std::slice::Iter<'a, HostWrite>>,
    /// By cluster: requests that have not been served, and replies that it has not been given.
    pub(super) requests: Vec<VecDeque<(Timestamp, Request)>>,
    pub(super) received: Vec<Received>,
    /// The request served last.
    pub(super) last: Timestamp,
}

/// What a cluster gets from the levels that all share: replies, and rooms of lines.
#[derive(Default)]
pub(super) struct Received {
    pub(super) replies: Vec<(Timestamp, Reply)>,
    pub(super) boxes: Vec<LineBox>,
}

impl Received {
    /// Gives it to the cluster, which hears of the answers to all requests up to a time. Nothing is left of it.
    pub(super) fn give<'a, const N: usize, const W: usize>(
        &mut self,
        cluster: &mut SmCluster<'a, N, W>,
        c: &LaunchContext<'a, N>,
        heard: Option<Timestamp>,
    ) {
        cluster.caches.borrow_mut().deferred.recycle_boxes(&mut self.boxes);
        cluster.receive_replies(c, &mut self.replies, heard);
    }

    /// Adds what else has come, which leaves nothing of it.
    pub(super) fn add(&mut self, more: &mut Received) {
        append(&mut self.replies, &mut more.replies);
        append(&mut self.boxes, &mut more.boxes);
    }
}

impl<'a> Service<'a, '_> {
    /// Takes the requests that clusters have made.
    pub(super) fn collect(&mut self, positions: &mut [ClusterProgress]) {
        for (requests, position) in self.requests.iter_mut().zip(positions) {
            if requests.is_empty() {
                std::mem::swap(requests, &mut position.requests);
            } else {
                requests.append(&mut position.requests);
            }
        }
    }

    /// Hands out the replies.
    pub(super) fn hand_out(&mut self, positions: &mut [ClusterProgress]) {
        for (received, position) in self.received.iter_mut().zip(positions) {
            position.received.add(received);
        }
    }

    /// Serves the requests of all clusters up to `until` in the order of simulated time.
    pub(super) fn serve<const N: usize>(&mut self, c: &LaunchContext<'a, N>, until: Timestamp) {
        let Service { lower, host, requests, received, last } = self;
        let Some(lower) = lower.as_mut() else { return };
        loop {
            // The one whose request is the earliest, and up to where no other one has any.
            let (mut k, mut first, mut second) = (0, NEVER, NEVER);
            for (i, requests) in requests.iter().enumerate() {
                let key = requests.front().map_or(NEVER, |r| r.0);
                if key < first {
                    (k, first, second) = (i, key, first);
                } else {
                    second = second.min(key);
                }
            }
            if first > until || first == NEVER {
                break;
            }
            let Received { replies, boxes } = &mut received[k];
            while requests[k].front().is_some_and(|r| r.0 <= until && r.0 < second) {
                let Some((key, request)) = requests[k].pop_front() else { break };
                if let Some(line) = requests[k].get(2 * AHEAD).and_then(|(_, request)| request.line()) {
                    lower.prefetch_line(line);
                }
                if let Some(line) = requests[k].get(AHEAD).and_then(|(_, request)| request.line()) {
                    lower.prefetch_frame(line);
                }
                assert!(key >= *last, "a request of {key:?} is served behind one of {last:?}");
                *last = key;
                apply_host_writes(host, c, key.0);
                if let Some(reply) = request.serve(lower, c.run.memory, (k, key), boxes) {
                    replies.push((key, reply));
                }
            }
        }
        for LateReply { cluster, known, reply } in lower.advance(until.0) {
            received[cluster].replies.push((known, reply));
        }
    }
}

/// The host's writes up to a cycle.
pub(super) fn apply_host_writes<const N: usize>(
    host: &mut Peekable<std::slice::Iter<HostWrite>>,
    c: &LaunchContext<'_, N>,
    until: u64,
) {
    while let Some(write) = host.next_if(|w| w.cycle <= until) {
        c.run.memory.write_shared(write.address, &write.data);
    }
}

/// Moves all of a list to the end of another one, and its room if that is empty.
fn append<T>(to: &mut Vec<T>, from: &mut Vec<T>) {
    if to.is_empty() { std::mem::swap(to, from) } else { to.append(from) }
}
