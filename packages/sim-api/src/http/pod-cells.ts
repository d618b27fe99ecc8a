import type { ApiObject } from '../client.ts'
import { age } from './human-duration.ts'
import { list, record, text } from './cells.ts'

/** What `kubectl get pods` shows of a pod beside its name and age. */
export interface PodCells {
  readonly ready: string
  readonly status: string
  readonly restarts: string
}

/** @see kubectl reference: STATUS is the phase, or the reason of the container that explains it */
export function podCells(pod: ApiObject, nowMs: number): PodCells {
  const status = record(pod['status'])
  const containers = list(status['containerStatuses'])
  const readyCount = containers.filter(
    (container) => container['ready'] === true && record(container['state'])['running'] !== undefined,
  ).length
  return {
    ready: `${readyCount}/${list(record(pod['spec'])['containers']).length}`,
    status: statusText(pod, status, containers),
    restarts: restartsText(containers, nowMs),
  }
}

function statusText(pod: ApiObject, status: Cells, containers: readonly Cells[]): string {
  if (pod.metadata.deletionTimestamp !== undefined) return status['reason'] === 'NodeLost' ? 'Unknown' : 'Terminating'
  const fallback = text(status['reason']) || text(status['phase']) || 'Unknown'
  const init = initText(pod, status)
  if (init !== undefined) return init
  const reason = containers.map(stateReason).find((found) => found !== undefined) ?? fallback
  const someRun = containers.some((container) => record(container['state'])['running'] !== undefined && container['ready'] === true)
  if (reason !== 'Completed' || !someRun) return reason
  return isReady(status) ? 'Running' : 'NotReady'
}

type Cells = Readonly<Record<string, unknown>>

/** @returns the first reason in the state of a container, from waiting or terminated */
function stateReason(container: Cells): string | undefined {
  const state = record(container['state'])
  const waiting = text(record(state['waiting'])['reason'])
  if (waiting !== '') return waiting
  if (state['terminated'] === undefined) return undefined
  const terminated = record(state['terminated'])
  return text(terminated['reason']) || (terminated['signal'] ? `Signal:${terminated['signal']}` : `ExitCode:${terminated['exitCode']}`)
}

/** @returns how far initialization has got, or undefined when it is over */
function initText(pod: ApiObject, status: Cells): string | undefined {
  const all = list(record(pod['spec'])['initContainers']).length
  for (const [index, container] of list(status['initContainerStatuses']).entries()) {
    const state = record(container['state'])
    if (record(state['terminated'])['exitCode'] === 0 || container['started'] === true) continue
    const reason = stateReason(container)
    return reason === undefined || reason === 'PodInitializing' ? `Init:${index}/${all}` : `Init:${reason}`
  }
  return undefined
}

function restartsText(containers: readonly Cells[], nowMs: number): string {
  const count = containers.reduce((sum, container) => sum + Number(container['restartCount'] ?? 0), 0)
  const finished = containers.map((container) => text(record(record(container['lastState'])['terminated'])['finishedAt'])).sort()
  const last = finished.at(-1) ?? ''
  return count === 0 || last === '' ? String(count) : `${count} (${age(last, nowMs)} ago)`
}

function isReady(status: Cells): boolean {
  return list(status['conditions']).some((condition) => condition['type'] === 'Ready' && condition['status'] === 'True')
}
