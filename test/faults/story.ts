import type { RecordedWrite } from '@tranche/recording'
import type { Violation } from './judge.ts'
import type { Played } from './play.ts'
import type { Shape } from './schedule.ts'

/** One line of a story. */
interface Line {
  readonly atMs: number
  readonly text: string
}

/** Maximum number of lines of a story, counted from its end. */
const LINES = 60

/** @returns what happened up to the first violation, in words, and how to replay it */
export function storyText(played: Played, violations: readonly Violation[], incidents = played.schedule.incidents.length): string {
  const { schedule, fromMs } = played
  const first = violations[0]
  const lines = timeline(played).filter(({ atMs }) => first === undefined || atMs <= first.atMs)
  const left = Math.max(0, lines.length - LINES)
  const texts = lines.slice(left).map(({ atMs, text }) => `${((atMs - fromMs) / 1_000).toFixed(2).padStart(9)} s  ${text}`)
  return [
    `seed ${schedule.seed} (${incidents} incidents): ${shapeText(schedule.shape)}`,
    ...(left > 0 ? [`           … ${left} lines before`] : []),
    ...texts,
    ...violations.map(({ guarantee, atMs, text }) => `  broken ${guarantee} at ${((atMs - fromMs) / 1_000).toFixed(2)} s: ${text}`),
    `  replay: pnpm test:faults --from ${schedule.seed} --seeds 1${schedule.upgrades > 0 ? ` --upgrades ${schedule.upgrades}` : ''}`,
  ].join('\n')
}

function shapeText({ nodes, maxUnavailable, steps, policy, admission, declares, minReadySeconds, queue }: Shape): string {
  const sizes = steps.map(
    ({ replicas, pause }) => `${replicas}${pause === undefined ? '' : pause.duration === undefined ? ' pause' : ` ${pause.duration} s`}`,
  )
  return `${nodes} nodes, maxUnavailable ${maxUnavailable}, steps ${sizes.join(' | ')}, minReadySeconds ${minReadySeconds}, ${declares}, admission ${admission}, queue ${queue}${policy === null ? '' : `, policy ${JSON.stringify(policy)}`}`
}

/** Operations and their effects, by time. */
function timeline({ notes, recording }: Played): readonly Line[] {
  const seen = new Map<string, string>()
  const writes = recording.writes.flatMap((write): readonly Line[] => {
    const text = writeText(write)
    if (text === null) return []
    const key = `${write.kind} ${write.uid}`
    if (seen.get(key) === text) return []
    seen.set(key, text)
    return [{ atMs: write.t, text }]
  })
  return [...notes.map(({ atMs, text }) => ({ atMs, text: `* ${text}` })), ...writes].toSorted((a, b) => a.atMs - b.atMs)
}

function writeText(write: RecordedWrite): string | null {
  switch (write.kind) {
    case 'Pod':
      return podText(write)
    case 'Node':
      return `node ${write.node} ${write.type === 'DELETED' ? 'is gone' : write.o['ready'] === 'True' ? 'is Ready' : 'is not Ready'}`
    case 'DaemonSet':
      return daemonSetText(write)
    case 'Rollout':
      return rolloutText(write)
    case 'BatchRelease':
      return releaseText(write)
    default:
      return null
  }
}

function podText({ type, verb, actor, o, node }: RecordedWrite): string {
  const what = `pod ${String(o['name'])} on ${node ?? 'no node'} (${String((o['images'] as readonly string[])[0]).split(':')[1]}, ${String(o['hash'])})`
  if (type === 'DELETED') return `${what} is gone`
  if (verb === 'delete') return `${what} is deleted by ${actor}`
  if (o['deleting'] === true) return `${what} terminates`
  const state = o['ready'] === true ? 'is Ready' : `is ${String(o['waiting'] ?? o['phase'] ?? 'new')}, not Ready`
  return `${what} ${state}`
}

const shortKeys: Readonly<Record<string, string>> = {
  'rollouts.kruise.io/daemonset-canary-revision': 'canary',
  'rollouts.kruise.io/daemonset-stable-revision': 'stable',
  'rollouts.kruise.io/daemonset-partition': 'partition',
  'tranche.dev/paused': 'paused',
  'tranche.dev/frozen': 'frozen',
  'tranche.dev/rollout': 'rollout',
}

function daemonSetText({ type, o }: RecordedWrite): string {
  if (type === 'DELETED') return 'the DaemonSet is gone'
  const annotations = (o['annotations'] ?? {}) as Readonly<Record<string, string>>
  const keys = Object.entries(shortKeys).flatMap(([key, short]) => (annotations[key] === undefined ? [] : [`${short} ${annotations[key]}`]))
  const { type: strategy } = o['strategy'] as { readonly type: string }
  return `DaemonSet generation ${String(o['generation'])} observed ${String(o['observed'])} ${strategy} ${keys.join(', ')}`
}

function rolloutText({ type, o, actor }: RecordedWrite): string {
  if (type === 'DELETED') return 'the Rollout is gone'
  const { metadata, spec, status } = o as unknown as RecordedRollout
  const { currentStepIndex, currentStepState } = status?.canaryStatus ?? {}
  const stops = `${spec.disabled === true ? ' disabled' : ''}${spec.strategy.paused === true ? ' paused' : ''}${metadata.deletionTimestamp === undefined ? '' : ' deleted'}`
  return `Rollout${stops} generation ${metadata.generation} observed ${status?.observedGeneration} by ${actor}: ${status?.phase}, step ${currentStepIndex} ${currentStepState}: ${status?.message ?? ''}`
}

function releaseText({ type, o, actor }: RecordedWrite): string {
  if (type === 'DELETED') return 'the BatchRelease is gone'
  const { status } = o as unknown as RecordedRelease
  const { flight } = status ?? {}
  if (flight === undefined) return `BatchRelease by ${actor}: ${status?.phase}`
  const { state, epoch, revision, partition, limit, permits, holds } = flight
  const nodes = permits.map(({ node }) => node).join(' ')
  return `BatchRelease by ${actor}: ${status?.phase}, ${state} epoch ${epoch} ${revision} partition ${partition} limit ${limit} permits [${nodes}]${holds.map(({ reason }) => ` ${reason}`).join('')}`
}

interface RecordedRollout {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string }
  readonly spec: { readonly disabled?: boolean; readonly strategy: { readonly paused?: boolean } }
  readonly status?: {
    readonly phase?: string
    readonly message?: string
    readonly observedGeneration?: number
    readonly canaryStatus?: { readonly currentStepIndex?: number; readonly currentStepState?: string }
  }
}

interface RecordedRelease {
  readonly status?: {
    readonly phase?: string
    readonly flight?: {
      readonly state: string
      readonly epoch: number
      readonly revision: string
      readonly partition: number
      readonly limit: number
      readonly permits: readonly { readonly node: string }[]
      readonly holds: readonly { readonly reason: string }[]
    }
  }
}
