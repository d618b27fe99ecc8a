import { compilePattern } from '@tranche/cel'

/** What a pod's life takes, as its template's annotations say. Durations are in milliseconds, before `speed` divides them. */
export interface PodSettings {
  /** From the first sight of the bound pod to its containers running; jitter and slow nodes included. */
  readonly startMs: number
  /** From running to ready. */
  readonly readinessMs: number
  /** From the request to delete until the pod is gone. */
  readonly stopMs: number
  /** How long a `bad-flap` container stays ready before it crashes; how long `bad-probe` and `bad-node` stay well. */
  readonly flapMs: number
  /** The same of `bad-late` and `bad-restart`. */
  readonly lateMs: number
  /** How long a `bad-heals` container waits for what it needs. */
  readonly healMs: number
  /** How long after a `bad-node` pod has gone its kubelet posts that the node is Ready. */
  readonly nodeHealMs: number
  /** The pod is not ready while it stops, as with a real kubelet. */
  readonly termNotReady: boolean
  /** Bad image tags have their effect on this node. */
  readonly mayFail: boolean
}

/** Prefix of the annotations, followed by `start-ms`, `slow-nodes` and so on. */
export const SETTINGS_PREFIX = 'sim.tranche.dev/'

/**
 * Reads the annotations of one pod for the node it is on.
 *
 * `start-ms` (1000), `jitter-ms` (0), `slow-nodes` (none), `slow-ms` (10000), `readiness-ms` (0), `stop-ms` (500),
 * `term-notready` (true), `bad-nodes` (all), `flap-ms` (5000), `late-ms` (60000),
 * `heal-ms` (30000), `node-heal-ms` (0). What cannot be read counts as absent.
 *
 * @param image of the first container: jitter is a pure function of node and image
 */
export function readPodSettings(annotations: Readonly<Record<string, string>>, nodeName: string, image: string): PodSettings {
  const text = (name: string): string | undefined => annotations[SETTINGS_PREFIX + name]
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

/** @returns undefined when there is no expression to match */
function matches(expression: string | undefined, nodeName: string): boolean | undefined {
  if (expression === undefined || expression === '') return undefined
  try {
    return compilePattern(expression).test(nodeName)
  } catch {
    return undefined
  }
}

/** @see Fowler, Noll, Vo: FNV-1a with 32 bits, then mixed so that similar names fall far apart */
function hash32(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  return (sum ^ (sum >>> 13)) >>> 0
}
