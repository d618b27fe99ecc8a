import { POD_POLICY_NAME, podPolicy } from '@tranche/admission'
import { customResourceDefinitions } from '@tranche/api-schema'
import { type Clock, sleep } from '@tranche/clock'
import { isAlreadyExists, isNotFound, type KubeClient, type ResourcePath, resourcePaths, type Writable } from '@tranche/kube-client'
import { NODE_LOCK_NAMESPACE } from '@tranche/kube-types'
import { demoDaemonSet, demoNamespace, demoRollout } from './demo-objects.ts'

/** Client, clock and stop signal. */
export interface InstallOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Interval between checks that a new resource is served, in milliseconds. */
const LOOK_AGAIN_MS = 20

/** Creates the Tranche CustomResourceDefinitions and waits until the server serves them. */
export async function installResources({ client, clock, signal }: InstallOptions): Promise<void> {
  for (const definition of customResourceDefinitions) await createOnce(client, resourcePaths.customResourceDefinitions, definition, signal)
  for (const resource of [resourcePaths.rollouts, resourcePaths.batchReleases, resourcePaths.releasePolicies])
    while (!(await isServed(client, resource, signal))) await sleep(clock, LOOK_AGAIN_MS, signal)
}

/** Creates what the chart would, for policies that pin config or lock nodes: the policy for pods, and the namespace of the Leases of nodes. */
export async function installPolicies({ client, signal }: InstallOptions): Promise<void> {
  await createOnce(client, resourcePaths.namespaces, { metadata: { name: NODE_LOCK_NAMESPACE } }, signal)
  const [policy, binding] = podPolicy
  const metadata = { name: POD_POLICY_NAME }
  await createOnce(client, resourcePaths.mutatingAdmissionPolicies, { ...policy, metadata } as Writable, signal)
  const ofPolicy = { ...binding, metadata, spec: { ...binding?.spec, policyName: POD_POLICY_NAME } }
  await createOnce(client, resourcePaths.mutatingAdmissionPolicyBindings, ofPolicy as Writable, signal)
}

/** Creates the demo objects: a namespace, a DaemonSet and its Rollout. */
export async function installDemo({ client, signal }: InstallOptions): Promise<void> {
  await createOnce(client, resourcePaths.namespaces, demoNamespace, signal)
  await createOnce(client, resourcePaths.daemonSets, demoDaemonSet, signal)
  await createOnce(client, resourcePaths.rollouts, demoRollout, signal)
}

async function createOnce(client: KubeClient, resource: ResourcePath, object: Writable, signal: AbortSignal): Promise<void> {
  try {
    await client.create(resource, object, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

async function isServed(client: KubeClient, resource: ResourcePath, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(resource, { signal })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
