import { type KubeObject, RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import type { Reflector } from '@tranche/kube-client'
import type { TraceContext, Tracer } from '@tranche/telemetry'
import { recordedActionsOf } from '@tranche/actions'
import type { OverlayStore } from './overlay-store.ts'
import type { WatchedCluster } from './watched-cluster.ts'

/**
 * Maximum number of writes waiting for their echo. A write whose echo never comes, because the watch went past it, makes room for others.
 */
const MOST_WRITES = 256

/**
 * Runs the cluster's handlers in the trace of this process's own write when its echo arrives, and in the trace of an action when the action
 * arrives.
 *
 * @returns the cluster itself if tracing is off
 */
export function traceWrites(cluster: WatchedCluster, tracer: Tracer): WatchedCluster {
  if (!tracer.isOn) return cluster
  const writes = new Map<string, TraceContext>()

  const noting = <T extends KubeObject>(overlay: OverlayStore<T>): OverlayStore<T> => ({
    get: overlay.get,
    learn(object) {
      const trace = tracer.current()
      if (trace !== undefined) writes.set(nameOf(object), trace)
      for (const [oldest] of writes) if (writes.size > MOST_WRITES) writes.delete(oldest)
      overlay.learn(object)
    },
  })
  /** Several handlers receive one echo; its trace is kept until later writes evict it. */
  const following = <T extends KubeObject>(reflector: Reflector<T>): Reflector<T> => {
    const subscribe: Reflector<T>['subscribe'] = (handler) =>
      reflector.subscribe({
        ...handler,
        onChange(key, previous, current) {
          const trace = current === undefined ? undefined : (writes.get(nameOf(current)) ?? actionTrace(previous, current))
          if (trace === undefined) handler.onChange?.(key, previous, current)
          else tracer.after(trace, () => handler.onChange?.(key, previous, current))
        },
      })
    // A copy would freeze the values of its getters.
    return Object.assign(Object.create(reflector) as Reflector<T>, { subscribe })
  }

  const { overlay } = cluster
  return {
    ...cluster,
    daemonSets: following(cluster.daemonSets),
    batchReleases: following(cluster.batchReleases),
    rollouts: following(cluster.rollouts),
    overlay: {
      ...overlay,
      daemonSets: noting(overlay.daemonSets),
      batchReleases: noting(overlay.batchReleases),
      rollouts: noting(overlay.rollouts),
    },
  }
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata.uid} ${metadata.resourceVersion}`
}

/** Trace of the action that this change recorded. */
function actionTrace(previous: KubeObject | undefined, current: KubeObject): TraceContext | undefined {
  const text = current.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION]
  if (previous === undefined || text === undefined || text === previous.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION])
    return undefined
  const [was, is] = [recordedActionsOf(previous).at(-1), recordedActionsOf(current).at(-1)]
  return is?.id === was?.id ? undefined : is?.trace
}
