//! A register that a majority of servers keeps: each operation first asks a majority for the latest version, then stores one at a
//! majority (Attiya, Bar-Noy and Dolev, "Sharing Memory Robustly in Message-Passing Systems").

use super::{Message, RegisterModel, RequestId, Value, register_model};
use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Network, Out, majority, model_peers};
use stateright::util::{HashableHashMap, HashableHashSet};
use std::borrow::Cow;

/// The number of a write, and its server: no two writes have the same version.
pub type Version = (u64, Id);

/// A message between servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Internal {
    /// Asks for the latest version.
    Ask(RequestId),
    /// The version and the value of a server.
    Latest(RequestId, Version, Value),
    /// Stores a value, unless the server has a later version.
    Store(RequestId, Version, Value),
    /// The value was stored, or a later version.
    Stored(RequestId),
}

/// What a server does for a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Collects versions. A write has a value.
    Asking {
        /// The operation of the client.
        request: RequestId,
        /// The client.
        client: Id,
        /// The value to write.
        write: Option<Value>,
        /// The answers, including its own.
        latest: HashableHashMap<Id, (Version, Value)>,
    },
    /// Collects acknowledgements. A read has a value.
    Storing {
        /// The operation of the client.
        request: RequestId,
        /// The client.
        client: Id,
        /// The value that was read.
        read: Option<Value>,
        /// The servers that stored the value, including itself.
        stored_by: HashableHashSet<Id>,
    },
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    version: Version,
    value: Value,
    operation: Option<Operation>,
}

/// A server.
#[derive(Clone, Debug)]
pub struct Abd {
    peers: Vec<Id>,
}

impl Abd {
    fn quorum(&self) -> usize {
        majority(self.peers.len() + 1)
    }

    /// Starts an operation. A server executes one at a time.
    fn start(
        &self,
        id: Id,
        replica: &mut Cow<'_, Replica>,
        client: Id,
        request: RequestId,
        write: Option<Value>,
        out: &mut Out<Self>,
    ) {
        if replica.operation.is_some() {
            return;
        }
        out.broadcast(&self.peers, &RegisterMsg::Internal(Internal::Ask(request)));
        let replica = replica.to_mut();
        let mut latest = HashableHashMap::default();
        latest.insert(id, (replica.version, replica.value));
        replica.operation = Some(Operation::Asking { request, client, write, latest });
    }

    /// Counts an answer. The last one of a quorum starts storing the latest value, or the value to write as the next version.
    fn on_latest(
        &self,
        id: Id,
        replica: &mut Cow<'_, Replica>,
        from: Id,
        answer: (RequestId, Version, Value),
        out: &mut Out<Self>,
    ) {
        let (answered, version, value) = answer;
        if !matches!(replica.operation, Some(Operation::Asking { request, .. }) if request == answered) {
            return;
        }
        let replica = replica.to_mut();
        let Some(Operation::Asking { request, client, write, latest }) = &mut replica.operation else {
            return;
        };
        latest.insert(from, (version, value));
        if latest.len() != self.quorum() {
            return;
        }
        let Some(&((number, writer), newest)) = latest.values().max_by_key(|(version, _)| *version) else {
            return;
        };
        let (version, value, read) = match *write {
            Some(value) => ((number + 1, id), value, None),
            None => ((number, writer), newest, Some(newest)),
        };
        out.broadcast(&self.peers, &RegisterMsg::Internal(Internal::Store(*request, version, value)));
        let mut stored_by = HashableHashSet::default();
        stored_by.insert(id);
        let storing = Operation::Storing { request: *request, client: *client, read, stored_by };
        replica.operation = Some(storing);
        if version > replica.version {
            (replica.version, replica.value) = (version, value);
        }
    }

    /// Counts an acknowledgement. The last one of a quorum ends the operation.
    fn on_stored(
        &self,
        replica: &mut Cow<'_, Replica>,
        from: Id,
        acknowledged: RequestId,
        out: &mut Out<Self>,
    ) {
        match &replica.operation {
            Some(Operation::Storing { request, stored_by, .. })
                if *request == acknowledged && !stored_by.contains(&from) => {}
            _ => return,
        }
        let replica = replica.to_mut();
        let Some(Operation::Storing { request, client, read, stored_by }) = &mut replica.operation else {
            return;
        };
        stored_by.insert(from);
        if stored_by.len() == self.quorum() {
            let answer =
                read.map_or(RegisterMsg::PutOk(*request), |value| RegisterMsg::GetOk(*request, value));
            out.send(*client, answer);
            replica.operation = None;
        }
    }
}

impl Actor for Abd {
    type Msg = Message<Internal>;
    type State = Replica;
    type Timer = ();

    fn on_start(&self, id: Id, _: &mut Out<Self>) -> Replica {
        Replica { version: (0, id), value: Value::default(), operation: None }
    }

    fn on_msg(
        &self,
        id: Id,
        replica: &mut Cow<'_, Replica>,
        from: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        match message {
            RegisterMsg::Put(request, value) => self.start(id, replica, from, request, Some(value), out),
            RegisterMsg::Get(request) => self.start(id, replica, from, request, None, out),
            RegisterMsg::Internal(Internal::Ask(request)) => {
                let latest = Internal::Latest(request, replica.version, replica.value);
                out.send(from, RegisterMsg::Internal(latest));
            }
            RegisterMsg::Internal(Internal::Latest(request, version, value)) => {
                self.on_latest(id, replica, from, (request, version, value), out);
            }
            RegisterMsg::Internal(Internal::Store(request, version, value)) => {
                out.send(from, RegisterMsg::Internal(Internal::Stored(request)));
                if version > replica.version {
                    let replica = replica.to_mut();
                    (replica.version, replica.value) = (version, value);
                }
            }
            RegisterMsg::Internal(Internal::Stored(request)) => self.on_stored(replica, from, request, out),
            RegisterMsg::PutOk(_) | RegisterMsg::GetOk(..) => {}
        }
    }
}

/// A number of servers and of clients.
#[must_use]
pub fn model(clients: usize, servers: usize, network: Network<Message<Internal>>) -> RegisterModel<Abd> {
    let servers = (0..servers).map(|server| Abd { peers: model_peers(server, servers) });
    register_model(servers.collect(), clients, network)
}
