import { shellCommand } from '../../format/shell-command.ts'

/** Annotation of a Rollout that names its ReleasePolicy, in the same namespace. */
export const POLICY_ANNOTATION = 'tranche.dev/release-policy'

/** Names of a Rollout and its policy. */
export interface PolicyNames {
  readonly namespace: string
  readonly rollout: string
  /** Undefined if the Rollout names none. */
  readonly policy: string | undefined
}

/** @returns the command that shows the policy as it is set; the one that names a policy if there is none */
export function policyCommand({ namespace, rollout, policy }: PolicyNames): string {
  const place = ['--namespace', namespace]
  return policy === undefined
    ? shellCommand(['kubectl', 'annotate', 'rollouts.rollouts.kruise.io', rollout, ...place, `${POLICY_ANNOTATION}=NAME`])
    : shellCommand(['kubectl', 'get', 'releasepolicies.tranche.dev', policy, ...place, '--output', 'yaml'])
}
