import { resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { drive, type Stage } from './stage.ts'

/** Ends the kubelets of nodes spread over the fleet. @returns their names, sorted */
export async function killNodes(stage: Stage, count: number): Promise<readonly string[]> {
  const { items } = await stage.client.list<Node>(resourcePaths.nodes, {})
  const names = items.map(({ metadata }) => metadata.name).toSorted()
  const dead = names.filter((_, at) => at % Math.floor(names.length / count) === 0).slice(0, count)
  for (const node of dead) await drive(stage.clock, stage.simulator.nodes.kill(node))
  return dead
}

/**
 * Deletes the pods on these nodes, as a native update does: without a kubelet they stay terminating.
 *
 * @param options with `gracePeriodSeconds: 0`, as `kubectl delete --force` does: they are gone at once
 */
export async function deletePodsOn(
  stage: Stage,
  nodes: readonly string[],
  options: { readonly gracePeriodSeconds?: 0 } = {},
): Promise<void> {
  for (const { metadata, spec } of await stage.pods())
    if (nodes.includes(spec?.nodeName ?? ''))
      await stage.client.delete(resourcePaths.pods, { namespace: metadata.namespace ?? '', name: metadata.name }, options)
}

/** Takes dead nodes out of service, as a person does: Kubernetes then deletes their pods. Waits until they are gone. */
export async function takeOutOfService(stage: Stage, nodes: readonly string[]): Promise<void> {
  const value = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }
  for (const name of nodes) {
    const body = [{ op: 'add' as const, path: '/spec/taints/-', value }]
    await stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'json', body })
  }
  const isEmpty = async (): Promise<boolean> => (await stage.pods()).every(({ spec }) => !nodes.includes(spec?.nodeName ?? ''))
  await stage.until('their pods are gone', isEmpty, 120_000)
}

/** Puts a node back into service: it answers, and a person removes its taint. */
export async function putIntoService(stage: Stage, name: string): Promise<void> {
  await drive(stage.clock, stage.simulator.nodes.revive(name))
  const { spec } = await stage.client.get<Node>(resourcePaths.nodes, { namespace: '', name })
  const taints = (spec?.taints ?? []).filter(({ key }) => key !== 'node.kubernetes.io/out-of-service')
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body: { spec: { taints } } })
}
