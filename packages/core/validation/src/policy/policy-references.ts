import { type Analysis, type DrainRules, prePullDefaults, type PrePullRules, type ReleasePolicy, type SecretKey } from '@tranche/api-schema'
import { POLICY_SECRET, POLICY_SECRET_LABEL } from '@tranche/kube-types'
import { type Advice, adviceOf, installationAdviceOf } from '../problems/problem.ts'

/** A key of a Secret that a policy names. */
export interface SecretReference {
  /** Path of the field with the reference, in the notation of the API server. */
  readonly path: string
  readonly secret: SecretKey
  /** Whether the key holds a URL, whose host must be allowed like any other. */
  readonly isUrl: boolean
}

/** A URL in a policy. */
export interface UrlReference {
  readonly path: string
  readonly url: string
}

/** Everything outside a policy that it refers to: keys of Secrets, and URLs. */
export interface PolicyReferences {
  readonly secrets: readonly SecretReference[]
  readonly urls: readonly UrlReference[]
}

/** @param policy policy whose fields have the types of the schema */
export function policyReferences({ spec }: Pick<ReleasePolicy, 'spec'>): PolicyReferences {
  const { analysis = [], notify = [] } = spec
  const ofAnalyses = analysis.map(({ prometheus, http }, index) => {
    const path = `spec.analysis[${index}]`
    return {
      secrets: [...secretsOf(`${path}.prometheus.headers`, prometheus?.headers), ...secretsOf(`${path}.http.headers`, http?.headers)],
      urls: [...urlOf(`${path}.prometheus.address`, prometheus?.address), ...urlOf(`${path}.http.url`, http?.url)],
    }
  })
  const ofReceivers = notify.map(({ slack, webhook }, index) => {
    const path = `spec.notify[${index}]`
    const signing = webhook?.hmac === undefined ? [] : [{ path: `${path}.webhook.hmac`, secret: webhook.hmac, isUrl: false }]
    const address = slack === undefined ? [] : [{ path: `${path}.slack.url`, secret: slack.url, isUrl: true }]
    return {
      secrets: [...address, ...signing, ...secretsOf(`${path}.webhook.headers`, webhook?.headers)],
      urls: urlOf(`${path}.webhook.url`, webhook?.url),
    }
  })
  const all = [...ofAnalyses, ...ofReceivers]
  return { secrets: all.flatMap(({ secrets }) => secrets), urls: all.flatMap(({ urls }) => urls) }
}

type Headers = NonNullable<Analysis['http']>['headers']

function secretsOf(path: string, headers: Headers): readonly SecretReference[] {
  return (headers ?? []).flatMap(({ valueFrom }, index) =>
    valueFrom === undefined ? [] : [{ path: `${path}[${index}].valueFrom`, secret: valueFrom, isUrl: false }],
  )
}

function urlOf(path: string, url: string | undefined): readonly UrlReference[] {
  return url === undefined ? [] : [{ path, url }]
}

/** Why a key of a Secret cannot be used: the Secret, its label for policies, or the key is missing. */
export type SecretLack = 'secret' | 'label' | 'key'

/** @returns message and fix, with the namespace when it is known */
export function secretLackText(
  lack: SecretLack,
  { name, key }: SecretKey,
  namespace: string | undefined,
): { readonly message: string; readonly fix: string } {
  const [within, option] = namespace === undefined ? ['', ''] : [` in namespace ${namespace}`, ` -n ${namespace}`]
  switch (lack) {
    case 'secret':
      return { message: `there is no Secret ${name}${within}`, fix: 'create it, or name another Secret' }
    case 'label':
      return {
        message: `the Secret ${name}${within} has no label ${POLICY_SECRET_LABEL}=${POLICY_SECRET}, so policies cannot use it`,
        fix: `kubectl label secret ${name}${option} ${POLICY_SECRET_LABEL}=${POLICY_SECRET}`,
      }
    case 'key':
      return { message: `the Secret ${name} has no key ${key}`, fix: 'add it, or name another key' }
    default:
      return lack satisfies never
  }
}

/** @returns the advice that a Secret cannot be used, with message and fix from the caller */
export function secretAdvice({ path, secret }: SecretReference, said: { readonly message: string; readonly fix: string }): Advice {
  return adviceOf('SecretUnusable', { path, value: secret, ...said })
}

/** @returns the advice that requests to a host are not allowed; `value` is the value at `path` */
export function hostAdvice(path: string, value: unknown, url: string): Advice {
  const { host } = new URL(url)
  const fix = `use another host, or start the controller with --allow-host ${host}`
  return adviceOf('HostNotAllowed', { path, value, message: `${host} is not an allowed host`, fix })
}

/** @returns the advice that the installation lets no policy check that nodes have room */
export function roomAdvice(room: string): Advice {
  const message = 'the installation lets no policy check that nodes have room, so nodes keep their old pods'
  return installationAdviceOf('RoomNotAllowed', { value: room, message })
}

/** @returns the advice that the installation allows no groups */
export function groupAdvice(group: string): Advice {
  const message = 'the installation allows no groups, so no release starts'
  return installationAdviceOf('GroupNotAllowed', { value: group, message })
}

/** @returns the advice that the installation allows no helper pods, and what that means for the nodes */
export function prePullAdvice(rules: PrePullRules): Advice {
  const { onFailure = prePullDefaults.onFailure } = rules
  const effect = onFailure === 'Continue' ? 'nodes are updated without their images' : 'nodes keep their old pods'
  return installationAdviceOf('PrePullNotAllowed', { value: rules, message: `the installation allows no helper pods, so ${effect}` })
}

/** @returns the advice that the installation lets no policy of the namespace drain nodes */
export function drainAdvice(rules: DrainRules, namespace: string): Advice {
  const message = `the installation lets no policy of namespace ${namespace} drain nodes, so nodes keep their old pods`
  return installationAdviceOf('DrainNotAllowed', { value: rules, message })
}

/** @returns the advice that the installation lets no policy of the namespace lock nodes */
export function nodeLockAdvice(nodeLock: string, namespace: string): Advice {
  const message = `the installation lets no policy of namespace ${namespace} lock nodes, so nodes keep their old pods`
  return installationAdviceOf('NodeLockNotAllowed', { value: nodeLock, message })
}

/** @returns the advice that the installation lets no policy limit downtime */
export function downtimeAdvice(perDay: string): Advice {
  const message = 'the installation lets no policy limit downtime, so nodes keep their old pods'
  return installationAdviceOf('DowntimeNotAllowed', { value: perDay, message })
}

/** @returns the advice that the installation lets no policy pin config */
export function pinAdvice(): Advice {
  return installationAdviceOf('PinNotAllowed', { value: 'Pin', message: 'the installation lets no policy pin config, so releases hold' })
}

/** @returns the advice that new pods would read config itself. @param fault why, without full stop */
export function podPolicyAdvice(fault: string): Advice {
  return installationAdviceOf('PodPolicyMissing', {
    value: 'Pin',
    message: `new pods would read config itself and no copy, so releases hold: ${fault}`,
  })
}

/** @returns the advice that new pods would read config itself, without saying why */
export function configCopiesAdvice(): Advice {
  return installationAdviceOf('PodPolicyMissing', { value: 'Pin' })
}
