import type { Pod } from '@tranche/kube-types'
import type { Stage } from './life-cycles.ts'

/** Event of a kubelet about a pod. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: 'BackOff' | 'Failed' | 'Unhealthy'
  readonly message: string
}

/**
 * Events of a stage, for failures only, in the words that users look for in `kubectl describe pod`. Successful stages have none: nothing
 * waits for them, and they would cost three more writes per pod.
 */
export function podEvents(stage: Stage, pod: Pod): readonly PodEvent[] {
  const { containers, initContainers = [] } = pod.spec as unknown as PodShape
  return (stage.inInit ? initContainers.slice(0, 1) : containers).flatMap((container) => containerEvents(stage, pod, container))
}

interface PodShape {
  readonly containers: readonly { readonly name: string; readonly image: string }[]
  readonly initContainers?: readonly { readonly name: string; readonly image: string }[]
}

function containerEvents(
  { state, probeFails }: Stage,
  { metadata: { name, namespace, uid } }: Pod,
  container: { readonly name: string; readonly image: string },
): readonly PodEvent[] {
  if (state === 'running') return probeFails ? [warning('Unhealthy', 'Readiness probe failed: the tag of the image wants it so')] : []
  switch (state.waiting) {
    case 'ErrImagePull':
      return [warning('Failed', `Failed to pull image "${container.image}"`), warning('Failed', 'Error: ErrImagePull')]
    case 'ImagePullBackOff':
      return [
        { type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${container.image}"` },
        warning('Failed', 'Error: ImagePullBackOff'),
      ]
    case 'CreateContainerConfigError':
    case 'CreateContainerError':
    case 'RunContainerError':
      return [warning('Failed', `Error: ${state.message}`)]
    case 'CrashLoopBackOff':
      return [warning('BackOff', `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`)]
    default:
      return []
  }
}

function warning(reason: PodEvent['reason'], message: string): PodEvent {
  return { type: 'Warning', reason, message }
}
