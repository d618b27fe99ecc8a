import type { admissionPolicies } from '@tranche/admission'
import { sleep, type VirtualClock } from '@tranche/clock'
import type { Simulator } from '@tranche/sim'
import type { Exchange } from '@tranche/wire'
import { admissionOf, hasWebhooks, installWebhooks, liftWebhooks, policyIds, webhookOf } from '../scenarios/admission.ts'
import { answerAsNextVersion, type Version } from '../scenarios/next-version.ts'
import type { Shape } from './schedule.ts'
import type { Program } from './world.ts'

/** Admission of new templates, as an administrator installs it. */
export interface AdmissionControl {
  /** Installs admission of this version, and overwrites another one. @returns when all of it is installed */
  install(version: Version): Promise<void>
  /** Uninstalls all of it. */
  lift(): Promise<void>
  /** When all of it was installed, of one version or of two; the last period may be open. */
  standing(): readonly Standing[]
  /** Controller to which the Service routes the calls of the API server with `admission: webhook`. */
  readonly webhook: Exchange
}

/** A period in which every new template is admitted. Epoch milliseconds by the world's clock; null: to the end. */
export interface Standing {
  readonly fromMs: number
  readonly toMs: number | null
}

/** Parts that admission needs. */
export interface AdmissionParts {
  readonly simulator: Simulator
  readonly clock: VirtualClock
  readonly way: Shape['admission']
  /** Controllers that are ready, oldest first. */
  readonly answering: () => readonly Program[]
  readonly policiesOf: (version: Version) => typeof admissionPolicies
}

/** Time between the writes of two objects, in milliseconds; meanwhile there are two versions. */
const EACH_MS = 300

/** @param parts nothing is installed yet */
export function createAdmissionControl(parts: AdmissionParts): AdmissionControl {
  const { clock, way } = parts
  const { install, lift } = controlOf(parts)
  const standing: Standing[] = []
  const last = (): Standing | undefined => standing.at(-1)
  return {
    async install(version) {
      await install(version)
      if (way !== 'none' && last()?.toMs !== null) standing.push({ fromMs: clock.nowMs(), toMs: null })
    },
    async lift() {
      const before = standing.pop()
      if (before !== undefined) standing.push({ ...before, toMs: clock.nowMs() })
      await lift()
    },
    standing: () => standing,
    webhook: createWebhookService(parts),
  }
}

type Control = Pick<AdmissionControl, 'install' | 'lift'>

function controlOf(parts: AdmissionParts): Control {
  const { simulator, way } = parts
  switch (way) {
    case 'none':
      return { install: async () => {}, lift: async () => {} }
    case 'inProcess':
      return {
        install: async () => simulator.server.useAdmission(admissionOf(simulator)),
        lift: async () => simulator.server.useAdmission(undefined),
      }
    case 'webhook':
      return {
        // The configuration is the same in every version; the answering controller makes the difference.
        async install() {
          if (!(await hasWebhooks(simulator))) await installWebhooks(simulator)
        },
        lift: () => liftWebhooks(simulator),
      }
    case 'policy':
      return createPolicyControl(parts)
    default:
      return way satisfies never
  }
}

type Policy = (typeof admissionPolicies)[number]

function createPolicyControl({ simulator, clock, policiesOf }: AdmissionParts): Control {
  const client = simulator.clientFor({ name: 'helm' })
  const there = new Map<string, Policy>()
  const keyOf = ({ kind, metadata }: Policy): string => `${kind} ${metadata.name}`

  async function write(policy: Policy): Promise<void> {
    const id = policyIds[policy.kind]!
    if (there.has(keyOf(policy))) {
      const { metadata } = await client.get(id, policy.metadata.name, undefined)
      await client.update(id, { ...policy, metadata } as never)
    } else await client.create(id, policy as never)
    there.set(keyOf(policy), policy)
  }

  async function remove(policy: Policy): Promise<void> {
    await client.delete(policyIds[policy.kind]!, policy.metadata.name, undefined)
    there.delete(keyOf(policy))
  }

  return {
    async install(version) {
      const wanted = policiesOf(version)
      const keys = new Set(wanted.map(keyOf))
      for (const policy of wanted) {
        if (there.size > 0) await sleep(clock, EACH_MS)
        await write(policy)
      }
      for (const policy of [...there.values()].toReversed()) if (!keys.has(keyOf(policy))) await remove(policy)
    },
    async lift() {
      for (const policy of [...there.values()].toReversed()) await remove(policy)
    },
  }
}

/** Requests go to one controller after the other, leader or not; a controller that does not answer is taken out. */
function createWebhookService({ simulator, clock, answering }: AdmissionParts): Exchange {
  let asked = 0
  const controllers = (): readonly Program[] => answering().filter(({ process }) => !process.isFrozen())
  const present = webhookOf(simulator.exchangeFor('admission'), clock, () => controllers().length > 0)
  return async (request, signal) => {
    const replicas = controllers()
    const replica = replicas[asked++ % Math.max(1, replicas.length)]
    const answer = await present(request, signal)
    return replica?.version === 'next' ? answerAsNextVersion(answer, replica.identity) : answer
  }
}
