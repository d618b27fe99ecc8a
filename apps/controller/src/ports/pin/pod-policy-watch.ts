import { podPolicyFault } from '@tranche/admission'
import type { Clock } from '@tranche/clock'
import type { PodPolicy } from '@tranche/controllers'
import {
  createReflector,
  isForbidden,
  isNotFound,
  type KubeClient,
  type Reflector,
  type ResourcePath,
  resourcePaths,
} from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'

/** Watches the policy that names copies of config in pods, and its binding. */
export interface PodPolicyWatch extends PodPolicy {
  /** Watches from the next question on. */
  begin(): void
  end(): void
}

/** Dependencies of {@link createPodPolicyWatch}. */
export interface PodPolicyWatchParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  readonly seed: number
  /** Name of the policy and of its binding. */
  readonly name: string
  /** Called whenever an answer may have changed. */
  readonly onChange: () => void
}

interface PolicyObjectOnWire extends KubeObject {
  readonly spec?: unknown
}

/** One watched object, and the last error of its lists: of those, only 403 and 404 say something about the policy. */
interface Watched {
  readonly reflector: Reflector<PolicyObjectOnWire>
  readonly plural: string
  fault: unknown
}

/** Creates the watch; nothing is requested before the first question, which only a policy with `config: Pin` causes. */
export function createPodPolicyWatch(parts: PodPolicyWatchParts): PodPolicyWatch {
  const { name } = parts
  let running: AbortController | null = null
  let watched: readonly Watched[] | null = null
  return {
    begin: () => void (running ??= new AbortController()),
    end() {
      running?.abort(new Error('the term has ended'))
      running = null
      watched = null
    },
    fault(namespace) {
      if (running === null) return undefined
      const { signal } = running
      watched ??= [policies, bindings].map((resource) => watch(parts, resource, signal))
      const unread = watched.map(unreadText).find((text) => text !== null)
      if (unread !== undefined) return unread
      if (!watched.every(({ reflector }) => reflector.synced)) return undefined
      const [policy, binding] = watched.map(({ reflector }) => reflector.store.get({ namespace: '', name }))
      return podPolicyFault({ name, policy, binding }, namespace)
    },
  }
}

const { mutatingAdmissionPolicies: policies, mutatingAdmissionPolicyBindings: bindings } = resourcePaths

function unreadText({ fault, plural }: Watched): string | null {
  if (isNotFound(fault)) return `the API server does not serve ${plural} in version v1, as Kubernetes does from 1.36 on`
  return isForbidden(fault) ? `the controller may not list ${plural}, as the permissions of rbac.configPin let it` : null
}

function watch({ client, clock, log, seed, name, onChange }: PodPolicyWatchParts, resource: ResourcePath, signal: AbortSignal): Watched {
  const list: KubeClient['list'] = async (...call) => {
    const before = watched.fault
    try {
      const found = await client.list(...call)
      watched.fault = undefined
      return found as never
    } catch (error) {
      watched.fault = error
      throw error
    } finally {
      if (before !== watched.fault) onChange()
    }
  }
  const reflector = createReflector<PolicyObjectOnWire, PolicyObjectOnWire>({
    client: { ...client, list },
    ...{ clock, log, seed, resource },
    scope: { fieldSelector: `metadata.name=${name}` },
    transform: (object) => object,
  })
  const watched: Watched = { reflector, plural: resource.plural, fault: undefined }
  reflector.subscribe({ onChange })
  reflector.start(signal).catch((error: unknown) => log.error({ err: error }, 'watch of the policy for pods ended'))
  return watched
}
