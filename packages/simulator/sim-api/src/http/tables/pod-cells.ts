import { isTerminal } from '../../model/is-terminal.ts'
import type { ApiObject } from '../../model/client.ts'
import { age } from './human-duration.ts'
import { list, text } from './cells.ts'
import { objectOrEmpty } from '../../model/json.ts'

/** Columns of `kubectl get pods` beside name and age. */
export interface PodCells {
  readonly ready: string
  readonly status: string
  readonly restarts: string
}

/** @see kubectl reference: STATUS is the phase, or the reason of the container that explains it */
export function podCells(pod: ApiObject, nowMs: number): PodCells {
  const init = initProgress(pod)
  const status = objectOrEmpty(pod['status'])
  const containers = list(status['containerStatuses'])
  const isInitializing = init.reason !== undefined && !hasCondition(status, 'Initialized')
  const counted = isInitializing ? list(status['initContainerStatuses']) : [...init.sidecars, ...containers]
  const readyCount = isInitializing ? 0 : containers.filter(isRunningReady).length
  const total = list(objectOrEmpty(pod['spec'])['containers']).length + init.sidecarNames.size
  return {
    ready: `${init.readySidecars + readyCount}/${total}`,
    status: statusText(pod, isInitializing ? init.reason : undefined),
    restarts: restartsText(counted, nowMs),
  }
}

type Cells = Readonly<Record<string, unknown>>

function statusText(pod: ApiObject, initReason: string | undefined): string {
  const status = objectOrEmpty(pod['status'])
  if (pod.metadata.deletionTimestamp !== undefined && status['reason'] === 'NodeLost') return 'Unknown'
  if (pod.metadata.deletionTimestamp !== undefined && !isTerminal(pod)) return 'Terminating'
  if (initReason !== undefined) return initReason
  const containers = list(status['containerStatuses'])
  const reason = containers.map(stateReason).find((found) => found !== undefined) ?? ownReason(status)
  if (reason !== 'Completed') return reason
  const hasRunning = containers.some(isRunningReady)
  if (hasRunning && hasCondition(status, 'Ready')) return 'Running'
  return containers.map(errorReason).find((found) => found !== undefined) ?? (hasRunning ? 'NotReady' : reason)
}

function ownReason(status: Cells): string {
  const gated = list(status['conditions']).some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated')
  return gated ? 'SchedulingGated' : text(status['reason']) || text(status['phase'])
}

function isRunningReady(container: Cells): boolean {
  return container['ready'] === true && objectOrEmpty(container['state'])['running'] !== undefined
}

/** @returns the reason in the state of a container, from waiting or terminated */
function stateReason(container: Cells): string | undefined {
  const state = objectOrEmpty(container['state'])
  const waiting = text(objectOrEmpty(state['waiting'])['reason'])
  if (waiting !== '') return waiting
  if (state['terminated'] === undefined) return undefined
  const terminated = objectOrEmpty(state['terminated'])
  return text(terminated['reason']) || (terminated['signal'] ? `Signal:${terminated['signal']}` : `ExitCode:${terminated['exitCode']}`)
}

function errorReason(container: Cells): string | undefined {
  const terminated = objectOrEmpty(objectOrEmpty(container['state'])['terminated'])
  return Number(terminated['exitCode'] ?? 0) === 0 ? undefined : stateReason(container)
}

interface InitProgress {
  /** Progress of initialization; undefined once it is over. */
  readonly reason: string | undefined
  /** Names of init containers that keep running beside the others (sidecars). */
  readonly sidecarNames: ReadonlySet<unknown>
  /** Statuses of the init containers, up to the one that is awaited. */
  readonly sidecars: readonly Cells[]
  readonly readySidecars: number
}

function initProgress(pod: ApiObject): InitProgress {
  const all = list(objectOrEmpty(pod['spec'])['initContainers'])
  const statuses = list(objectOrEmpty(pod['status'])['initContainerStatuses'])
  const sidecarNames = new Set(all.filter((container) => container['restartPolicy'] === 'Always').map((container) => container['name']))
  const isDone = (container: Cells): boolean =>
    objectOrEmpty(objectOrEmpty(container['state'])['terminated'])['exitCode'] === 0 ||
    (sidecarNames.has(container['name']) && container['started'] === true)
  const waitingAt = statuses.findIndex((container) => !isDone(container))
  const passed = waitingAt < 0 ? statuses : statuses.slice(0, waitingAt)
  const sidecars = passed.filter((container) => sidecarNames.has(container['name']))
  return {
    reason: waitingAt < 0 ? undefined : initReason(statuses[waitingAt]!, waitingAt, all.length),
    sidecarNames,
    sidecars,
    readySidecars: sidecars.filter((container) => container['ready'] === true).length,
  }
}

function initReason(container: Cells, index: number, total: number): string {
  const reason = stateReason(container)
  return reason === undefined || reason === 'PodInitializing' ? `Init:${index}/${total}` : `Init:${reason}`
}

function restartsText(containers: readonly Cells[], nowMs: number): string {
  const restarts = containers.reduce((sum, container) => sum + Number(container['restartCount'] ?? 0), 0)
  const finished = containers
    .map((container) => text(objectOrEmpty(objectOrEmpty(container['lastState'])['terminated'])['finishedAt']))
    .sort()
  const last = finished.at(-1) ?? ''
  return restarts === 0 || last === '' ? String(restarts) : `${restarts} (${age(last, nowMs)} ago)`
}

function hasCondition(status: Cells, type: string): boolean {
  return list(status['conditions']).some((condition) => condition['type'] === type && condition['status'] === 'True')
}
