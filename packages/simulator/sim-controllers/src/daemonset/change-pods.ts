import { keyOf, keyText, type Pod } from '@tranche/kube-types'
import { isStatus, resources, type SimClient } from '@tranche/sim-api'
import type { EventRecorder } from '../machinery/event-recorder.ts'
import { buildPod } from './build-pod.ts'
import type { Expectations } from './expectations.ts'
import type { OwnWrites } from './own-writes.ts'
import type { Target } from './nodes/pod-template.ts'

/** Dependencies of pod creation and deletion. */
export interface PodWriter {
  readonly client: SimClient
  readonly expectations: Expectations
  readonly ownWrites: OwnWrites
  readonly events: EventRecorder
}

/** Maximum number of creations, and of deletions, per pass. */
const BURST = 250

/**
 * Creates a pod on each node, in batches that double on success, then deletes the given pods, all at once. Expects successful writes to
 * appear in the cache.
 *
 * @throws first error of a creation, else of a deletion; a pod that is already gone is no error
 */
export async function changePods(writer: PodWriter, target: Target, createOn: readonly string[], doomed: readonly Pod[]): Promise<void> {
  const key = keyText(keyOf(target.daemonSet))
  const nodeNames = createOn.slice(0, BURST)
  const pods = doomed.slice(0, BURST)
  writer.expectations.expect(key, nodeNames.length, pods.length)
  const errors = await createPods(writer, target, nodeNames)
  errors.push(...(await deletePods(writer, target, pods)))
  if (errors.length > 0) throw errors[0]
}

async function createPods(writer: PodWriter, target: Target, nodeNames: readonly string[]): Promise<unknown[]> {
  const key = keyText(keyOf(target.daemonSet))
  const errors: unknown[] = []
  let size = 1
  for (let at = 0; at < nodeNames.length; at += size / 2) {
    const batch = nodeNames.slice(at, at + size)
    const results = await Promise.all(batch.map((nodeName) => createPod(writer, target, nodeName)))
    errors.push(...results.filter((error) => error !== undefined))
    if (errors.length > 0) {
      for (let skipped = at + batch.length; skipped < nodeNames.length; skipped++) writer.expectations.creationObserved(key)
      return errors
    }
    size *= 2
  }
  return errors
}

/** @returns the error, if it is to be reported */
async function createPod(
  { client, expectations, ownWrites, events }: PodWriter,
  { daemonSet, hash }: Target,
  nodeName: string,
): Promise<unknown> {
  const key = keyText(keyOf(daemonSet))
  try {
    const pod = await client.create(resources.pods, buildPod(daemonSet, nodeName, hash))
    ownWrites.podWritten(daemonSet, pod.metadata.resourceVersion)
    events.record(daemonSet, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`)
    return undefined
  } catch (error) {
    // A terminating namespace accepts no pods; the expectation expires.
    if (isNamespaceTerminating(error)) return undefined
    expectations.creationObserved(key)
    events.record(daemonSet, 'Warning', 'FailedCreate', `Error creating: ${(error as Error).message}`)
    return error
  }
}

async function deletePods({ client, expectations, events }: PodWriter, { daemonSet }: Target, pods: readonly Pod[]): Promise<unknown[]> {
  const key = keyText(keyOf(daemonSet))
  const results = await Promise.all(
    pods.map(async (pod) => {
      try {
        await client.delete(resources.pods, pod.metadata.name, pod.metadata.namespace)
        events.record(daemonSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
        return undefined
      } catch (error) {
        expectations.deletionObserved(key)
        if (isStatus(error, 404)) return undefined
        events.record(daemonSet, 'Warning', 'FailedDelete', `Error deleting: ${(error as Error).message}`)
        return error
      }
    }),
  )
  return results.filter((error) => error !== undefined)
}

function isNamespaceTerminating(error: unknown): boolean {
  return isStatus(error, 403) && error.status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true
}
