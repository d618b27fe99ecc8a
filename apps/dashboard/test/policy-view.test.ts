import { describe, expect, it } from 'vitest'
import { policyCommand } from '../src/pages/policy/policy-commands.ts'

describe('the command about a policy', () => {
  const names = { namespace: 'demo', rollout: 'node-agent' }

  it.each([
    ['shows the policy as it is set', 'careful', 'kubectl get releasepolicies.tranche.dev careful --namespace demo --output yaml'],
    [
      'names a policy if there is none',
      undefined,
      'kubectl annotate rollouts.rollouts.kruise.io node-agent --namespace demo tranche.dev/release-policy=NAME',
    ],
    [
      'keeps a shell from running a name',
      '$(reboot)',
      "kubectl get releasepolicies.tranche.dev '$(reboot)' --namespace demo --output yaml",
    ],
  ])('%s', (_title, policy, want) => {
    expect(policyCommand({ ...names, policy })).toBe(want)
  })
})
