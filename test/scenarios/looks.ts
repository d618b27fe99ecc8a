import type { Pod } from '@tranche/kube-types'
import type { Stage } from './stage.ts'

/** @returns names of the nodes on which a standing pod runs the tag */
export async function nodesOn(stage: Pick<Stage, 'pods'>, tag: string): Promise<readonly string[]> {
  return (await stage.pods())
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && runs(pod, tag))
    .map((pod) => pod.spec?.nodeName ?? '?')
    .toSorted()
}

/** Waits until the release is in a pause of this step. */
export async function untilPausedAt(stage: Stage, step: number, withinMs?: number): Promise<void> {
  const isPaused = async (): Promise<boolean> => {
    const { currentStepIndex, currentStepState } = (await stage.rollout()).status?.canaryStatus ?? {}
    return currentStepIndex === step && currentStepState === 'StepPaused'
  }
  await stage.until(`step ${step} is paused`, isPaused, withinMs)
}

/** Waits until every node runs the tag and the Rollout is Healthy. */
export async function untilReleased(stage: Stage, tag: string, withinMs?: number): Promise<void> {
  const isReleased = async (): Promise<boolean> => {
    const { status } = await stage.rollout()
    return status?.phase === 'Healthy' && (await stage.pods()).every((pod) => runs(pod, tag))
  }
  await stage.until(`${tag} is released`, isReleased, withinMs)
}

/** Waits until this number of nodes run the tag. */
export async function untilNodesOn(stage: Stage, tag: string, count: number, withinMs?: number): Promise<void> {
  await stage.until(`${count} nodes run ${tag}`, async () => (await nodesOn(stage, tag)).length >= count, withinMs)
}

/** Whether the pod's container has the tag. */
export function runs(pod: Pod, tag: string): boolean {
  return imageOf(pod).endsWith(`:${tag}`)
}

function imageOf(pod: Pod): string {
  return (pod.spec as unknown as { readonly containers: readonly { readonly image: string }[] }).containers[0]?.image ?? ''
}

/** @returns the Rollout's condition of this type */
export async function condition(
  stage: Stage,
  type: string,
): Promise<{ readonly status: string; readonly reason: string; readonly message: string } | undefined> {
  return (await stage.rollout()).status?.conditions?.find((one) => one.type === type)
}
