//! Commands that are inputs: their names are those of `Input`, `Write` and `Report`.

use crate::arguments::{
    Arguments, parse_id, parse_list, parse_reference, parse_text, parse_value, parse_variant,
};
use crate::networks::{parse_interaction, parse_network_input, parse_pattern};
use orchestrion_kernel::item::{Rank, Scope, Topic};
use orchestrion_kernel::knowledge::{FactKind, NewFact, NewIdentity, Write, WriteSource};
use orchestrion_kernel::module::{Argument, Module, Operation, PastRequest, Ratings, Report, Stance};
use orchestrion_kernel::network::Millionths;
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::policy::{AdditionalDebater, ModuleContextPolicy, Policy, Rule};
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryUpdate};
use orchestrion_kernel::{
    CallId, ConversationId, Input, RequestId, Score, State, TaskId, Text, Timestamp, TraceId, UserId, Weight,
};
use std::num::NonZeroU32;

/// Parses an input. `None` if the command is no input.
pub(crate) fn parse_input(
    state: &State,
    command: &str,
    args: &mut Arguments,
) -> Result<Option<Input>, String> {
    let time = |text: &str| parse_value(text).map(Timestamp::from_millis);
    let call = |args: &mut Arguments| {
        let pending = state.control().pending_calls().first().map(|call| call.id);
        let call = args.field("call", |text| parse_value(text).map(CallId::new))?;
        call.or(pending).ok_or("no pending call: expected call=NUMBER".to_owned())
    };
    let write = match command {
        "session_start" => {
            let user = UserId::new(args.next("user")?);
            return Ok(Some(Input::SessionStart { user, identity: parse_identity(args)?.map(Box::new) }));
        }
        "session_end" => return Ok(Some(Input::SessionEnd)),
        "user_message" => {
            let text = args.next("text")?.into();
            let user = args.field("user", |name| Ok(UserId::new(name)))?;
            let user = user.or_else(|| state.control().session().cloned());
            let scope = args.field("scope", parse_variant)?.unwrap_or_default();
            let user = user.ok_or("no session: expected user=NAME")?;
            return Ok(Some(Input::UserMessage { user, text, scope }));
        }
        "reply" => {
            let (call, report) = (call(args)?, parse_report(args)?);
            let updates = args.fields_with_prefix("summary_update.").into_iter();
            let updates = SummaryUpdate(updates.map(|(key, text)| (key, Text::from(text))).collect());
            let action = args.field("action.iteration", |text| parse_value(text).map(record))?.map(Box::new);
            let summary_update = Some(updates).filter(|updates| !updates.0.is_empty());
            let interaction = parse_interaction(args)?;
            return Ok(Some(Input::Reply { call, report, summary_update, action, interaction }));
        }
        "call_failed" => {
            let failure = parse_variant(&args.next("failure")?)?;
            return Ok(Some(Input::CallFailed { call: call(args)?, failure }));
        }
        "step" => return Ok(Some(Input::Step)),
        "cancel" => return Ok(Some(Input::Cancel)),
        "resume" => return Ok(Some(Input::Resume)),
        "tick" => return Ok(Some(Input::Tick)),
        "fact" => Write::Fact(parse_fact(args)?),
        "working" => Write::Working {
            key: args.next("key")?.into(),
            text: args.next("text")?.into(),
            expires_at: args.field("expires_at", time)?,
            depends_on: args.field("depends_on", parse_list(parse_reference))?.unwrap_or_default(),
        },
        "environment" => Write::Environment {
            key: args.next("key")?.into(),
            text: args.next("text")?.into(),
            supersedes: args.field("supersedes", parse_reference)?,
        },
        "promote" => Write::Promote {
            key: args.next("key")?.into(),
            scope: args.field("scope", parse_variant)?.ok_or("missing argument: expected scope=SCOPE")?,
            source: parse_source(args)?,
        },
        _ => {
            return Ok(
                parse_network_input(state, command, args)?.map(|input| Input::Network(Box::new(input)))
            );
        }
    };
    Ok(Some(Input::Write(Box::new(write))))
}

/// Parses the identity of a session user, if the command has an authority.
fn parse_identity(args: &mut Arguments) -> Result<Option<NewIdentity>, String> {
    let Some(authority) = args.field("authority", parse_text)? else { return Ok(None) };
    Ok(Some(NewIdentity {
        name: "Ada".into(),
        authority,
        rank: args.field("rank", parse_variant)?,
        department: "sales".into(),
        organization: "acme".into(),
        permissions: args.field("permissions", parse_list(parse_text))?.unwrap_or_default(),
    }))
}

fn parse_fact(args: &mut Arguments) -> Result<NewFact, String> {
    let (key, text) = (args.next("key")?.into(), args.next("text")?.into());
    let new = NewFact::global(key, text, parse_source(args)?);
    let constraint = args.field("constraint", |text| match text {
        "none" => Ok(None),
        text => parse_variant(text).map(Some),
    });
    Ok(NewFact {
        kind: constraint?.map_or(FactKind::Fact, FactKind::Constraint),
        established_at: args.field("established_at", parse_value)?.map(Timestamp::from_millis),
        memory: args.field("memory", parse_variant)?.unwrap_or(new.memory),
        scope: args.field("scope", parse_variant)?.unwrap_or_default(),
        audience: args.field("audience", parse_variant)?.unwrap_or_default(),
        time_sensitive: args.field("time_sensitive", parse_value)?.unwrap_or(false),
        supersedes: args.field("supersedes", parse_reference)?,
        detected_rule: args.field("detected_rule", parse_variant)?,
        depends_on: args.field("depends_on", parse_list(parse_reference))?.unwrap_or_default(),
        is_from_text: args.field("from_text", parse_value)?.unwrap_or(false),
        ..new
    })
}

fn parse_source(args: &mut Arguments) -> Result<WriteSource, String> {
    let rank: Option<Rank> = args.field("rank", parse_variant)?;
    Ok(match args.field("source", parse_text)? {
        // The table of every built-in policy names the ranks.
        None => WriteSource::declared(rank.unwrap_or(Rank::Employee).name().into()),
        Some(name) => WriteSource {
            name: Some(name).filter(|name: &Text| name.as_str() != "session_user"),
            rank,
            is_derived: args.field("derived", parse_value)?.unwrap_or(false),
        },
    })
}

/// Parses an effect; `undoable:TEXT` has the compensation TEXT.
fn parse_effect(text: &str) -> Result<Effect, String> {
    match text.strip_prefix("undoable:") {
        Some(compensation) => Ok(Effect::Undoable { compensation: compensation.into() }),
        None => parse_variant(text),
    }
}

fn parse_report(args: &mut Arguments) -> Result<Report, String> {
    let name = args.next("report")?;
    if let Some(report) = parse_pattern(&name, args)? {
        return Ok(report);
    }
    let task = args.field("task", |task| Ok(Text::from(task)))?.unwrap_or_else(|| "do it".into());
    let scopes = (args.field("task_scope", parse_variant)?, args.field("second_scope", parse_variant)?);
    let second: Option<Effect> = args.field("second_effect", parse_effect)?;
    let plan = args.field("effect", |effect| {
        let task = |id, effect, scope: &Option<Scope>| Task {
            id: TaskId::new(id),
            text: task.clone(),
            effect,
            depends_on: None,
            scope: scope.clone(),
            step: StepOptions::default(),
        };
        let first = task(1, parse_effect(effect)?, &scopes.0);
        let second = second.clone().map(|effect| task(2, effect, &scopes.1));
        Ok(Plan::new([first].into_iter().chain(second).collect()).unwrap())
    })?;
    Ok(match name.as_str() {
        "identity" => Report::Identity {
            gcp: args.field("gcp", parse_value)?.unwrap_or(true),
            mongodb: args.field("mongodb", parse_value)?.unwrap_or(true),
        },
        "context" => {
            let scope = args.field("past_scope", parse_variant)?.unwrap_or_default();
            let trace = TraceId { conversation: ConversationId::new("past"), request: RequestId::FIRST };
            let past = args.field("past", parse_text)?.map(|text| PastRequest { trace, text, scope });
            Report::Context { ratings: Ratings::default(), traces: past.into_iter().collect() }
        }
        "summary" => Report::Summary {
            text: args.next("text")?.into(),
            forgets: args.field("forgets", parse_list(parse_id))?,
        },
        "classification" => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        "plan" => Report::Plan(plan.ok_or("missing argument: expected effect=EFFECT")?),
        "argument" => {
            let stance = args.field("stance", parse_variant)?.unwrap_or(Stance::Pro);
            let confidence = args.field("confidence", parse_score)?.unwrap_or(CONFIDENCE);
            let text = args.next("text")?.into();
            Report::Argument { argument: Argument { stance, confidence }, text, plan }
        }
        "repaired" => Report::Repaired {
            text: args.next("text")?.into(),
            plan: plan.ok_or("missing argument: expected effect=EFFECT")?,
        },
        "no_repair" => Report::NoRepair { text: args.next("text")?.into() },
        "approval" => Report::Approval {
            approved: args.field("approved", parse_value)?.unwrap_or(true),
            text: "".into(),
        },
        "exit" => Report::Exit {
            code: parse_value(&args.next("code")?)?,
            text: args.next("text")?.into(),
            number: args.field("number", |text| parse_value(text).map(Millionths::new))?,
        },
        "stored" => Report::Stored { held: true },
        "delivered" => Report::Delivered,
        _ => return Err(format!("unknown report `{name}`: expected one of README.md")),
    })
}

pub(crate) fn parse_score(text: &str) -> Result<Score, String> {
    Score::from_decimal(text).map_err(|error| error.to_string())
}

/// The confidence of an argument without one.
const CONFIDENCE: Score = Score::from_millionths(850_000).unwrap();

fn record(iteration: NonZeroU32) -> ActionRecord {
    let text = || Text::from("");
    ActionRecord {
        iteration,
        timestamp: Timestamp::default(),
        mode: Mode::Fast,
        thinking: text(),
        planning: text(),
        reflection: text(),
        approach: text(),
        tool_calls: Vec::new(),
    }
}

/// Returns the reply with which `advance` continues; `None` for replies that a file states.
pub(crate) fn default_report(operation: Operation) -> Option<Report> {
    let report = match operation {
        Operation::VerifyIdentity => "identity",
        Operation::LoadContext => "context",
        Operation::Classify => "classification",
        Operation::DraftPlan => "plan effect=irreversible",
        Operation::Argue(role) => &format!("argument \"{role} agrees\""),
        Operation::ArgueAdditional { debater } => &format!("argument \"debater {debater} agrees\""),
        Operation::RunTask { .. } => "exit 0 done",
        Operation::StoreMemory { .. } => "stored",
        Operation::DeliverAudit => "delivered",
        _ => return None,
    };
    parse_report(&mut Arguments::parse_line(report).ok()?.pop()?).ok()
}

/// Changes settings of a policy. Their names are those of a policy file; `contexts.MODULE` is an override.
pub(crate) fn change_policy(policy: &mut Policy, args: &mut Arguments) -> Result<(), String> {
    for (setting, value) in args.fields_with_prefix("") {
        let number = || parse_value(&value);
        match setting.split('.').collect::<Vec<_>>()[..] {
            ["additional_debaters", name] => {
                let weight = Weight::from_decimal(&value).map_err(|error| error.to_string())?;
                policy.additional_debaters.push(AdditionalDebater { name: name.into(), weight });
            }
            ["ranks", title] => policy.ranks.insert(title, parse_variant(&value)?),
            ["bounds", "parallel_tasks"] => policy.bounds.parallel_tasks = number()?,
            ["thresholds", "redebate_below"] => policy.thresholds.redebate_below = parse_score(&value)?,
            ["thresholds", "proceed_from"] => policy.thresholds.proceed_from = parse_score(&value)?,
            ["elo"] => policy.elo = parse_variant(&value)?,
            ["writes", "strict_ranks"] => policy.writes.strict_ranks = parse_value(&value)?,
            ["compaction", "from_items"] => policy.compaction.from_items = number()?,
            ["compaction", "from_tokens"] => policy.compaction.from_tokens = number()?,
            ["compaction", "cluster_items"] => policy.compaction.cluster_items = number()?,
            ["compaction", "session_items_max"] => policy.compaction.session_items_max = number()?,
            ["situation", "max_history"] => policy.situation.max_history = number()?,
            ["situation", "summary_chars_max"] => policy.situation.summary_chars_max = number()?,
            ["situation", "argue_mode"] => policy.situation.argue_mode = parse_mode(&value)?,
            ["contexts", "provenance"] => policy.contexts.provenance = parse_value(&value)?,
            ["contexts", "needs_review"] => policy.contexts.needs_review = parse_value(&value)?,
            ["contexts", "budget_tokens"] => {
                (policy.contexts.budget_tokens, policy.contexts.reserved_tokens) = (number()?, 0);
            }
            ["contexts", module, "budget_tokens"] => {
                module_override(policy, module)?.budget_tokens = Some(number()?);
            }
            ["contexts", module, "weights", topic] => {
                let weight = Weight::from_decimal(&value).map_err(|error| error.to_string())?;
                let topics = Topic::ALL.into_iter().filter(|one| topic == "all" || topic == one.name());
                module_override(policy, module)?.weights.extend(topics.map(|topic| (topic, weight)));
            }
            ["rules", name] => {
                let rule = Rule::ALL.iter().find(|rule| rule.name() == name);
                policy
                    .rules
                    .set(*rule.ok_or_else(|| format!("unknown rule `{name}`"))?, parse_value(&value)?);
            }
            _ => return Err(format!("unknown setting `{setting}`: expected one of README.md")),
        }
    }
    Ok(())
}

fn parse_mode(name: &str) -> Result<Option<Mode>, String> {
    let modes = [None, Some(Mode::Fast), Some(Mode::Deep)];
    let mode = modes.into_iter().find(|mode| mode.map_or("none", Mode::name) == name);
    mode.ok_or_else(|| format!("unknown mode `{name}`: expected none, fast or deep"))
}

/// Returns the override of a module's context; adds it if there is none.
fn module_override<'a>(policy: &'a mut Policy, name: &str) -> Result<&'a mut ModuleContextPolicy, String> {
    let module: Option<Module> = Module::ALL.into_iter().find(|module| module.name() == name);
    let module = module.ok_or_else(|| format!("unknown module `{name}`"))?;
    let overrides = &mut policy.contexts.module_overrides;
    let index = overrides.iter().position(|one| one.module == module).unwrap_or_else(|| {
        overrides.push(ModuleContextPolicy { module, budget_tokens: None, weights: [].into() });
        overrides.len() - 1
    });
    Ok(&mut overrides[index])
}
