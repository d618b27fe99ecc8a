import type { PolicyState } from '@tranche/api-schema'
import { createElement, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { policyCommand } from '../src/pages/policy/policy-commands.ts'
import { PolicyFault, Section } from '../src/pages/policy/policy-page.tsx'
import { StatusNote } from '../src/pages/rollout/status-note.tsx'
import { type DashboardPorts, PortsContext } from '../src/ports/dashboard-ports.ts'
import { report } from './builders.ts'

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

describe('a policy that is not in force', () => {
  const message = 'no drain: remove it'

  it.each<[string, PolicyState, RegExp]>([
    ['in full is named with its message', { valid: true, usable: false, message }, /tone-wait.*! no drain: remove it/],
    [
      'at all says that nothing is deleted',
      { valid: false, usable: false, message },
      /tone-bad.*No pod is deleted until.*no drain: remove it/,
    ],
    ['is no subject where it is in force', { valid: true, usable: true }, /^$/],
  ])('%s', (_title, state, want) => {
    expect(markup(createElement(PolicyFault, { state }))).toMatch(want)
  })

  it('has what it asks for below why that is not in force, and not among its rules', () => {
    const unusable = [{ reason: 'DrainNotAllowed', message: 'No drain here. Remove it.', sentences: ['Pods are evicted.'] }]
    const html = markup(createElement(Section, { section: { section: 'drain', sentences: [], unusable } }))
    expect(html).toMatch(
      /Drains<\/h2><div class="not-in-force">.*Not in force\..*No drain here\. Remove it\..*The policy asks for:.*Pods are evicted\./,
    )
  })

  it.each([
    ['says so on the page of its Rollout', { message: 'waiting for new pods' }, 1],
    ['is not repeated there where the status says it', { message }, 1],
    ['is not repeated there where the decision says it', { need: { reason: 'PolicyInvalid', message, actions: [] } }, 1],
  ])('%s', (_title, changes, times) => {
    const policyState = { valid: true, usable: false, message }
    const html = markup(createElement(StatusNote, { report: report({ ...changes, policyState }) }))
    expect(html.split(message)).toHaveLength(times + 1)
  })
})

function markup(part: ReactElement): string {
  const ports = { missing: {}, go: () => {}, urlOf: () => '/' } as unknown as DashboardPorts
  return renderToStaticMarkup(createElement(PortsContext, { value: ports }, part))
}
