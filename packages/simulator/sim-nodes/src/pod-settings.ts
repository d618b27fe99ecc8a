import { valueIn } from '@tranche/kube-types'
import { compilePattern } from '@tranche/cel'

/** Life cycle settings from the annotations of a pod's template. Durations are in milliseconds, before `speed` divides them. */
export interface PodSettings {
  /** Time from the first observation of the bound pod to running containers, including jitter and slow nodes. */
  readonly startMs: number
  /** Time from running to ready. */
  readonly readinessMs: number
  /** Time from the delete request until the pod is gone. */
  readonly stopMs: number
  /** Time that a `bad-flap` container stays ready before it crashes, and that `bad-probe` and `bad-node` stay healthy. */
  readonly flapMs: number
  /** The same for `bad-late` and `bad-restart`. */
  readonly lateMs: number
  /** Time that a `bad-heals` container waits for its configuration. */
  readonly healMs: number
  /** Time from the end of a `bad-node` pod until its kubelet reports the node as Ready. */
  readonly nodeHealMs: number
  /** Whether the pod is not ready while it stops, as with a real kubelet. */
  readonly termNotReady: boolean
  /** Whether bad image tags have their effect on this node. */
  readonly mayFail: boolean
}

/** Prefix of the annotations, followed by `start-ms`, `slow-nodes` and so on. */
export const SETTINGS_PREFIX = 'sim.tranche.dev/'

/**
 * Parses the annotations of one pod for its node.
 *
 * `start-ms` (1000), `jitter-ms` (0), `slow-nodes` (none), `slow-ms` (10000), `readiness-ms` (0), `stop-ms` (500), `term-notready` (true),
 * `bad-nodes` (all), `flap-ms` (5000), `late-ms` (60000), `heal-ms` (30000), `node-heal-ms` (0). Invalid values count as absent.
 *
 * @param image of the first container: jitter is a pure function of node and image
 */
export function readPodSettings(annotations: Readonly<Record<string, string>>, nodeName: string, image: string): PodSettings {
  const text = (name: string): string | undefined => valueIn(annotations, SETTINGS_PREFIX + name)
  const ms = (name: string, absent: number): number => readMs(text(name)) ?? absent
  const isSlow = matches(text('slow-nodes'), nodeName) ?? false
  const jitterMs = Math.floor((hash32(`${nodeName}|${image}`) / 2 ** 32) * ms('jitter-ms', 0))
  return {
    startMs: (isSlow ? ms('slow-ms', 10_000) : ms('start-ms', 1000)) + jitterMs,
    readinessMs: ms('readiness-ms', 0),
    stopMs: ms('stop-ms', 500),
    flapMs: ms('flap-ms', 5000),
    lateMs: ms('late-ms', 60_000),
    healMs: ms('heal-ms', 30_000),
    nodeHealMs: ms('node-heal-ms', 0),
    termNotReady: text('term-notready') !== 'false',
    mayFail: matches(text('bad-nodes'), nodeName) ?? true,
  }
}

function readMs(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

/** @returns undefined without an expression to match */
function matches(expression: string | undefined, nodeName: string): boolean | undefined {
  if (expression === undefined || expression === '') return undefined
  try {
    return compilePattern(expression).test(nodeName)
  } catch {
    return undefined
  }
}

/** 32-bit FNV-1a, then mixed so that similar names spread widely. @see Fowler, Noll, Vo */
function hash32(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  return (sum ^ (sum >>> 13)) >>> 0
}
