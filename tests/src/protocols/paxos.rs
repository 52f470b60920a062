//! Paxos for one decision: servers agree on the value of one write (Lamport, "Paxos Made Simple").

use super::{Message, RegisterModel, RequestId, Value, register_model};
use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Network, Out, majority, model_peers};
use stateright::util::{HashableHashMap, HashableHashSet};
use std::borrow::Cow;

/// The number of a ballot, and its leader.
pub type Ballot = (u32, Id);
/// The write of a client.
pub type Proposal = (RequestId, Id, Value);
/// The proposal that a server accepted last, with its ballot.
pub type Accepted = Option<(Ballot, Proposal)>;

/// A message between servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Internal {
    /// A leader opens a ballot.
    Open(Ballot),
    /// A server joins a ballot. It will accept nothing of an earlier one.
    Join(Ballot, Accepted),
    /// The leader proposes a write.
    Propose(Ballot, Proposal),
    /// A server accepted the proposal.
    Accept(Ballot),
    /// A majority accepted the proposal.
    Decide(Ballot, Proposal),
}

/// The state of a server, which is leader and acceptor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    ballot: Ballot,
    /// As leader: what to propose.
    proposal: Option<Proposal>,
    /// As leader: the servers that joined, with what they accepted before.
    joined: HashableHashMap<Id, Accepted>,
    /// As leader: the servers that accepted.
    accepted_by: HashableHashSet<Id>,
    /// As acceptor.
    accepted: Accepted,
    is_decided: bool,
}

/// A server.
#[derive(Clone, Debug)]
pub struct Paxos {
    peers: Vec<Id>,
}

impl Paxos {
    fn quorum(&self) -> usize {
        majority(self.peers.len() + 1)
    }

    /// Opens a ballot for the first write that a client sends to this server.
    fn open(&self, id: Id, server: &mut Server, proposal: Proposal, out: &mut Out<Self>) {
        server.proposal = Some(proposal);
        server.joined = HashableHashMap::default();
        server.accepted_by = HashableHashSet::default();
        server.ballot = (server.ballot.0 + 1, id);
        server.joined.insert(id, server.accepted);
        out.broadcast(&self.peers, &RegisterMsg::Internal(Internal::Open(server.ballot)));
    }

    /// Counts a server that joined. The last one of a quorum makes the leader propose: the latest proposal that any of them
    /// accepted, or else its own.
    fn on_join(&self, id: Id, server: &mut Server, from: Id, accepted: Accepted, out: &mut Out<Self>) {
        server.joined.insert(from, accepted);
        if server.joined.len() != self.quorum() {
            return;
        }
        let latest = server.joined.values().copied().max().flatten();
        let Some(proposal) = latest.map(|(_, proposal)| proposal).or(server.proposal) else { return };
        server.proposal = Some(proposal);
        server.accepted = Some((server.ballot, proposal));
        server.accepted_by.insert(id);
        out.broadcast(&self.peers, &RegisterMsg::Internal(Internal::Propose(server.ballot, proposal)));
    }

    /// Counts a server that accepted. The last one of a quorum decides.
    fn on_accept(&self, server: &mut Server, from: Id, out: &mut Out<Self>) {
        server.accepted_by.insert(from);
        if server.accepted_by.len() != self.quorum() {
            return;
        }
        let Some(proposal) = server.proposal else { return };
        server.is_decided = true;
        out.broadcast(&self.peers, &RegisterMsg::Internal(Internal::Decide(server.ballot, proposal)));
        let (request, client, _) = proposal;
        out.send(client, RegisterMsg::PutOk(request));
    }
}

impl Actor for Paxos {
    type Msg = Message<Internal>;
    type State = Server;
    type Timer = ();

    fn on_start(&self, _: Id, _: &mut Out<Self>) -> Server {
        Server {
            ballot: (0, Id::from(0)),
            proposal: None,
            joined: HashableHashMap::default(),
            accepted_by: HashableHashSet::default(),
            accepted: None,
            is_decided: false,
        }
    }

    fn on_msg(
        &self,
        id: Id,
        server: &mut Cow<'_, Server>,
        from: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        if server.is_decided {
            if let (RegisterMsg::Get(request), Some((_, (_, _, value)))) = (message, server.accepted) {
                out.send(from, RegisterMsg::GetOk(request, value));
            }
            return;
        }
        match message {
            RegisterMsg::Put(request, value) if server.proposal.is_none() => {
                self.open(id, server.to_mut(), (request, from, value), out);
            }
            RegisterMsg::Internal(Internal::Open(ballot)) if server.ballot < ballot => {
                server.to_mut().ballot = ballot;
                out.send(from, RegisterMsg::Internal(Internal::Join(ballot, server.accepted)));
            }
            RegisterMsg::Internal(Internal::Join(ballot, accepted)) if server.ballot == ballot => {
                self.on_join(id, server.to_mut(), from, accepted, out);
            }
            RegisterMsg::Internal(Internal::Propose(ballot, proposal)) if server.ballot <= ballot => {
                let server = server.to_mut();
                (server.ballot, server.accepted) = (ballot, Some((ballot, proposal)));
                out.send(from, RegisterMsg::Internal(Internal::Accept(ballot)));
            }
            RegisterMsg::Internal(Internal::Accept(ballot)) if server.ballot == ballot => {
                self.on_accept(server.to_mut(), from, out);
            }
            RegisterMsg::Internal(Internal::Decide(ballot, proposal)) => {
                let server = server.to_mut();
                (server.ballot, server.accepted) = (ballot, Some((ballot, proposal)));
                server.is_decided = true;
            }
            RegisterMsg::Internal(_)
            | RegisterMsg::Put(..)
            | RegisterMsg::Get(_)
            | RegisterMsg::PutOk(_)
            | RegisterMsg::GetOk(..) => {}
        }
    }
}

/// A number of servers and of clients.
#[must_use]
pub fn model(clients: usize, servers: usize) -> RegisterModel<Paxos> {
    let servers = (0..servers).map(|server| Paxos { peers: model_peers(server, servers) });
    register_model(servers.collect(), clients, Network::new_unordered_nonduplicating([]))
}
