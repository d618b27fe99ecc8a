import { admissionPolicies, admissionWebhooks, podPolicy } from '@tranche/admission'
import type { Clock } from '@tranche/clock'
import { createWebhookHandler } from '@tranche/controller'
import { createKubeClient } from '@tranche/kube-client'
import { fieldManagers } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import type { Simulator } from '@tranche/sim'
import { type Admission, resources } from '@tranche/sim-api'
import type { Exchange } from '@tranche/wire'
import { createAdmissionHook } from '../../apps/launcher/src/dev/admission-hook.ts'

/** Admission as `tranche dev` hooks it in, for programs that are distinguished by identity. */
export function admissionOf(simulator: Simulator): Admission {
  const hook = createAdmissionHook(simulator.clientFor({ name: 'admission' }))
  return {
    handles: (review) => hook.handles(review),
    admit: (review) => hook.admit({ ...review, actor: { ...review.actor, name: managerOf(review.actor.name) } }),
  }
}

function managerOf(actor: string): string {
  if (actor.startsWith('controller')) return fieldManagers.controller
  if (actor.startsWith('executor')) return fieldManagers.executor
  return actor.startsWith('api-') ? fieldManagers.api : actor
}

/** Resources of policies and bindings, by kind. */
export const policyIds: Readonly<Record<string, (typeof resources)[keyof typeof resources]>> = {
  MutatingAdmissionPolicy: resources.mutatingAdmissionPolicies,
  MutatingAdmissionPolicyBinding: resources.mutatingAdmissionPolicyBindings,
  ValidatingAdmissionPolicy: resources.validatingAdmissionPolicies,
  ValidatingAdmissionPolicyBinding: resources.validatingAdmissionPolicyBindings,
}

/** Admission as the chart installs it with `admission: policy`. */
export async function enforcePolicies(simulator: Simulator): Promise<void> {
  const client = simulator.clientFor({ name: 'helm' })
  for (const policy of admissionPolicies) await client.create(policyIds[policy.kind]!, policy)
}

/** The policy that names copies of config in pods. */
export async function enforcePins(simulator: Simulator): Promise<void> {
  const client = simulator.clientFor({ name: 'helm' })
  for (const policy of podPolicy) await client.create(policyIds[policy.kind]!, policy)
}

/** Removes the policies. */
export async function liftPolicies(simulator: Simulator): Promise<void> {
  const client = simulator.clientFor({ name: 'helm' })
  for (const policy of admissionPolicies) await client.delete(policyIds[policy.kind]!, policy.metadata.name, undefined)
}

const webhookIds = { Mutating: resources.mutatingWebhookConfigurations, Validating: resources.validatingWebhookConfigurations }

/** Admission as the chart installs it with `admission: webhook`. @see webhookOf */
export async function installWebhooks(simulator: Simulator): Promise<void> {
  const client = simulator.clientFor({ name: 'helm' })
  for (const kind of ['Mutating', 'Validating'] as const) {
    const webhooks = admissionWebhooks
      .filter((one) => one.kind === kind)
      .map(({ name, webhook }) => ({ ...webhook, clientConfig: { url: `https://tranche-webhook.tranche-system.svc/${name}` } }))
    const named = { apiVersion: 'admissionregistration.k8s.io/v1', kind: `${kind}WebhookConfiguration`, metadata: { name: 'tranche' } }
    await client.create(webhookIds[kind], { ...named, webhooks })
  }
}

/** Whether the webhooks are installed. */
export async function hasWebhooks(simulator: Simulator): Promise<boolean> {
  const { items } = await simulator.clientFor({ name: 'helm' }).list(webhookIds.Mutating, {})
  return items.length > 0
}

/** Removes the webhooks, if they are installed. */
export async function liftWebhooks(simulator: Simulator): Promise<void> {
  const client = simulator.clientFor({ name: 'helm' })
  for (const id of Object.values(webhookIds)) {
    const { items } = await client.list(id, {})
    for (const { metadata } of items) await client.delete(id, metadata.name, undefined)
  }
}

/** Answers of the controllers' webhook to the API server, without sockets. @param isServed whether a controller serves it */
export function webhookOf(exchange: Exchange, clock: Clock, isServed: () => boolean): Exchange {
  const client = createKubeClient({ exchange, clock, userAgent: `${fieldManagers.controller}/story`, log: silentLogger })
  const handler = createWebhookHandler({ client, clock, log: silentLogger })
  return async ({ path, body = '' }, signal) => {
    if (!isServed()) throw Object.assign(new Error('no process listens'), { code: 'ECONNREFUSED', address: '10.96.0.17', port: 443 })
    const answer = await handler(path, body, signal)
    return { status: answer.status, headers: { 'content-type': 'application/json' }, body: linesOf(answer.body) }
  }
}

async function* linesOf(text: string): AsyncIterable<string> {
  yield text
}
