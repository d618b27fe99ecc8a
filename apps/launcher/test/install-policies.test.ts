import { podPolicyFault } from '@tranche/admission'
import { systemClock } from '@tranche/clock'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { createSimulator } from '@tranche/sim'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { installPolicies } from '../src/dev/install-objects.ts'

it('tranche dev has what the chart installs for policies that pin config or lock nodes, also when it is there already', async () => {
  const simulator = createSimulator({ clock: systemClock, nodes: 0, watchDelayMs: 0 })
  const exchange = simulator.exchangeFor('dev')
  const client = createKubeClient({ exchange, clock: systemClock, userAgent: 'test/1', log: silentLogger })
  const { signal } = new AbortController()
  for (let time = 0; time < 2; time++) await installPolicies({ client, clock: systemClock, signal })
  const named = { namespace: '', name: 'tranche-pods' }
  const group = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false }
  const [policy, binding] = await Promise.all(
    ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'].map((plural) =>
      client.get<KubeObject & { readonly spec?: unknown }>({ ...group, plural }, named),
    ),
  )
  expect(podPolicyFault({ name: named.name, policy, binding }, 'demo')).toBeNull()
  expect(await client.get(resourcePaths.namespaces, { namespace: '', name: 'medik8s-leases' })).toBeDefined()
  simulator.stop()
})
