import type { RecordedDaemonSet, RecordedWrite } from '@tranche/recording'
import type { Violation } from './judge.ts'

/** Facts about a run beside its writes. Times are epoch milliseconds by the recording's clock. */
export interface ReportFacts {
  /** From this time on no fault is injected. */
  readonly quiescentFromMs: number
  readonly endMs: number
}

/** Time after the last fault until every restarted program has its watches, in milliseconds. */
const WATCHES_MS = 20_000
/** Longest time until a change outside Tranche is on the record, in milliseconds: as long as the change observer keeps it in memory. */
const REPORTED_MS = 60_000

/**
 * Changes that people made outside Tranche, and that the change observer never put on the record of the Rollout (G7).
 *
 * Such a change is a pause, a resume, an action, an approval or a jump in the status, an end of control, or another template of the bound
 * DaemonSet. A change that no process watches is not observed, so this judge ignores changes before the last fault ended. It also finds
 * changes on the record that no user made.
 *
 * The rules are those of docs/reference/actions.md. The judge derives changes from the writes of people, and shares no code with the change
 * observer.
 *
 * @param writes of the namespace of the Rollout, of a run in which a change observer ran all the time
 */
export function findUnreported(writes: readonly RecordedWrite[], { quiescentFromMs, endMs }: ReportFacts): readonly Violation[] {
  const changes = changesIn(writes)
  const rollouts = writes.filter(({ kind }) => kind === 'Rollout')
  const reports = rollouts.map(({ t, type, o }) => ({
    t,
    name: nameOf(o),
    ids: type === 'DELETED' ? null : idsIn(o as unknown as SeenRollout),
  }))
  const unreported = changes.flatMap(({ t, rv, rollout, type }): readonly Violation[] => {
    if (t < quiescentFromMs + WATCHES_MS || t + REPORTED_MS > endMs) return []
    const after = reports.filter((one) => one.name === rollout && one.t >= t && one.t <= t + REPORTED_MS)
    // The object of the change is gone, and the record with it.
    if (after.some(({ ids }) => ids === null || ids.includes(`seen-${rv}-${type}`))) return []
    return [{ guarantee: 'G7', atMs: t, text: `the ${type} that people wrote on ${rollout} at version ${rv} was never reported` }]
  })
  return [...unreported, ...inventedIn(rollouts, changes)]
}

/** A change to the release of a Rollout that people made outside Tranche. */
interface Change {
  readonly t: number
  readonly rv: number
  /** Name. */
  readonly rollout: string
  readonly type: string
}

/** The members that this judge reads. */
interface SeenRollout {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: { readonly disabled?: boolean; readonly strategy?: { readonly paused?: boolean } }
  readonly status?: { readonly canaryStatus?: { readonly currentStepState?: string; readonly nextStepIndex?: number } }
}

function changesIn(writes: readonly RecordedWrite[]): readonly Change[] {
  const before = new Map<string, RecordedWrite['o']>()
  return writes.flatMap(({ kind, type, uid = '', actor = '', t, rv, o }) => {
    if (kind !== 'Rollout' && kind !== 'DaemonSet') return []
    const was = before.get(uid)
    if (type === 'DELETED') before.delete(uid)
    else before.set(uid, o)
    if (type !== 'MODIFIED' || was === undefined || isOurs(actor)) return []
    const change = (rollout: string, what: string): Change => ({ t, rv, rollout, type: what })
    if (kind === 'Rollout')
      return changesOn(was as unknown as SeenRollout, o as unknown as SeenRollout).map((what) => change(nameOf(o), what))
    const [old, next] = [was as unknown as RecordedDaemonSet, o as unknown as RecordedDaemonSet]
    const rollout = next.annotations?.[BINDING]
    const isTemplate = rollout !== undefined && old.annotations?.[BINDING] === rollout && old.template !== next.template
    return isTemplate ? [change(rollout, 'template')] : []
  })
}

/** @returns types, as the record names them */
function changesOn(was: SeenRollout, is: SeenRollout): readonly string[] {
  const paused = (one: SeenRollout): boolean => one.spec.strategy?.paused ?? false
  const disabled = (one: SeenRollout): boolean => one.spec.disabled ?? false
  const { currentStepState: stateWas, nextStepIndex: nextWas } = was.status?.canaryStatus ?? {}
  const { currentStepState: state, nextStepIndex: next } = is.status?.canaryStatus ?? {}
  const action = is.metadata.annotations?.[ACTION]
  const isAction = action !== undefined && action !== was.metadata.annotations?.[ACTION]
  return [
    ...(paused(was) === paused(is) ? [] : [paused(is) ? 'pause' : 'resume']),
    ...(disabled(was) === disabled(is) ? [] : [disabled(is) ? 'disable' : 'enable']),
    ...(isAction ? [(JSON.parse(action) as { readonly type: string }).type] : []),
    ...(state === 'StepReady' && stateWas !== state ? ['approve'] : []),
    ...(next !== undefined && next !== nextWas ? ['jump'] : []),
  ]
}

/**
 * Several changes that no watch has shown one by one are observed as one, at a later version. An earlier change of the same type is
 * enough.
 */
function inventedIn(rollouts: readonly RecordedWrite[], changes: readonly Change[]): readonly Violation[] {
  const known = new Set<string>()
  const created = new Set<string>()
  const found: Violation[] = []
  for (const { type: how, t, actor = '', o, uid = '' } of rollouts) {
    if (how === 'DELETED') continue
    created.add(uid)
    for (const id of idsIn(o as unknown as SeenRollout)) {
      const [, rv = '', ...type] = id.split('-')
      const isDone = changes.some((change) => change.rollout === nameOf(o) && change.type === type.join('-') && change.rv <= Number(rv))
      // A Rollout or DaemonSet that is created again differs from the one before without a change by a user.
      if (!isDone && !known.has(id) && created.size === 1)
        found.push({ guarantee: 'G7', atMs: t, text: `${actor} reports ${id}, which no user did` })
      known.add(id)
    }
  }
  return found
}

const ACTION = 'tranche.dev/action'
const BINDING = 'tranche.dev/rollout'
const SEEN = 'tranche.dev/observed-changes'

function idsIn({ metadata }: SeenRollout): readonly string[] {
  const text = metadata.annotations?.[SEEN]
  return text === undefined ? [] : (JSON.parse(text) as readonly { readonly id: string }[]).map(({ id }) => id)
}

function nameOf(o: RecordedWrite['o']): string {
  return (o as unknown as SeenRollout).metadata.name
}

function isOurs(actor: string): boolean {
  return /^(controller|executor|api)-/.test(actor)
}
