import { claimsOf } from '@tranche/drain'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { KubeObject, Pod } from '@tranche/kube-types'
import { READ_DEADLINE_MS, readOrNull } from './read-pod.ts'

/** Reads which CSI drivers serve the claims of pods. */
export interface DriverReader {
  /**
   * Two requests for each claim of a pod that it has not read before: the claim and its volume do not change while a running pod uses them.
   *
   * @returns the drivers, each once
   * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
   */
  read(pod: Pod, signal: AbortSignal): Promise<readonly string[]>
}

/** Maximum number of claims of one pod that are read: a user may write thousands of missing ones into a pod, which are read each time. */
const MOST_CLAIMS = 128
const CLAIMS_AT_ONCE = 8

/** Maximum number of pods whose drivers are kept. */
const KEPT_PODS = 5_000

/** Annotation on volumes of a driver that was once a part of Kubernetes. @see k8s.io/api/core/v1 AnnMigratedTo */
const MIGRATED_ANNOTATION = 'pv.kubernetes.io/migrated-to'

/** Creates a reader, for one process. */
export function createDriverReader(client: KubeClient): DriverReader {
  const known = new Map<string, readonly string[]>()

  async function driverOf(namespace: string, claimName: string, signal: AbortSignal): Promise<string | undefined> {
    const limits = { signal, deadlineMs: READ_DEADLINE_MS }
    const claim = await readOrNull(client.get<Claim>(resourcePaths.persistentVolumeClaims, { namespace, name: claimName }, limits))
    const name = claim?.spec?.volumeName ?? ''
    if (name === '') return undefined
    const volume = await readOrNull(client.get<Volume>(resourcePaths.persistentVolumes, { namespace: '', name }, limits))
    return volume?.spec?.csi?.driver ?? volume?.metadata.annotations?.[MIGRATED_ANNOTATION]
  }

  return {
    async read(pod, signal) {
      const { uid, namespace = '' } = pod.metadata
      const before = known.get(uid)
      if (before !== undefined) return before
      const claims = [...new Set(claimsOf(pod))].slice(0, MOST_CLAIMS)
      const drivers: (string | undefined)[] = []
      for (let at = 0; at < claims.length; at += CLAIMS_AT_ONCE)
        drivers.push(...(await Promise.all(claims.slice(at, at + CLAIMS_AT_ONCE).map(async (claim) => driverOf(namespace, claim, signal)))))
      const found = [...new Set(drivers.filter((driver) => driver !== undefined))]
      // A claim may be bound only once its pod starts.
      if (drivers.includes(undefined)) return found
      if (known.size >= KEPT_PODS) known.clear()
      known.set(uid, found)
      return found
    },
  }
}

/** @see core/v1 PersistentVolumeClaim */
interface Claim extends KubeObject {
  readonly spec?: { readonly volumeName?: string }
}

/** @see core/v1 PersistentVolume */
interface Volume extends KubeObject {
  readonly spec?: { readonly csi?: { readonly driver?: string } | null }
}
