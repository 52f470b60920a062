//! Models of the protocols that stateright ships as examples, written from their published descriptions, to compare explorers on
//! real states: vectors, trees and hash tables instead of a few numbers.
//!
//! Each model has the reachable states of stateright's example, so that the published numbers of states check it.

pub mod abd;
pub mod paxos;
pub mod single_copy;
pub mod two_phase_commit;

use stateright::Expectation;
use stateright::actor::register::{RegisterActor, RegisterMsg};
use stateright::actor::{Actor, ActorModel, Network};
use stateright::semantics::LinearizabilityTester;
use stateright::semantics::register::Register;
use std::fmt::Debug;
use std::hash::Hash;

/// A client's number of an operation.
pub type RequestId = u64;
/// The content of a register.
pub type Value = char;
/// The messages of a register protocol, with the messages between its servers.
pub type Message<Internal> = RegisterMsg<RequestId, Value, Internal>;
/// The operations that clients invoked and that returned.
pub type OperationHistory = LinearizabilityTester<stateright::actor::Id, Register<Value>>;
/// Servers and clients of a register protocol.
pub type RegisterModel<Server> = ActorModel<RegisterActor<Server>, (), OperationHistory>;

/// Builds the model of a register: each client writes once and then reads. The history of operations must be linearizable.
fn register_model<Server, Internal>(
    servers: Vec<Server>,
    clients: usize,
    network: Network<Message<Internal>>,
) -> RegisterModel<Server>
where
    Server: Actor<Msg = Message<Internal>>,
    Internal: Clone + Debug + Eq + Hash,
{
    let server_count = servers.len();
    ActorModel::new((), LinearizabilityTester::new(Register(Value::default())))
        .actors(servers.into_iter().map(RegisterActor::Server))
        .actors((0..clients).map(|_| RegisterActor::Client { put_count: 1, server_count }))
        .init_network(network)
        .property(Expectation::Always, "linearizable", |_, state| {
            state.history.serialized_history().is_some()
        })
        .property(Expectation::Sometimes, "value read", |_, state| {
            let written = |message: &Message<Internal>| matches!(message, RegisterMsg::GetOk(_, value) if *value != Value::default());
            state.network.iter_deliverable().any(|envelope| written(envelope.msg))
        })
        .record_msg_in(RegisterMsg::record_returns)
        .record_msg_out(RegisterMsg::record_invocations)
}
