import type { Analysis, ReleasePolicy, SecretKey } from '@tranche/api-schema'
import { POLICY_SECRET, POLICY_SECRET_LABEL } from '@tranche/kube-types'
import { type Advice, adviceOf } from '../problem.ts'

/** A key of a Secret that a policy names. */
export interface SecretReference {
  /** Path of the field that names it. */
  readonly path: string
  readonly secret: SecretKey
  /** What it holds is a URL, whose host must be allowed like any other. */
  readonly isUrl: boolean
}

/** A URL that a policy names. */
export interface UrlReference {
  readonly path: string
  readonly url: string
}

/** Everything that a policy names and that does not stand in it. */
export interface PolicyReferences {
  readonly secrets: readonly SecretReference[]
  readonly urls: readonly UrlReference[]
}

/** @param policy one whose fields have the types they should */
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

/** Why a key of a Secret cannot be used: there is no such Secret, it was not lent to policies, or it has no such key. */
export type SecretLack = 'secret' | 'label' | 'key'

/** @returns what is said of it, and what to do, as far as a namespace is known */
export function secretLackText(
  lack: SecretLack,
  { name, key }: SecretKey,
  namespace: string | undefined,
): { readonly message: string; readonly fix: string } {
  const [within, option] = namespace === undefined ? ['', ''] : [` in namespace ${namespace}`, ` -n ${namespace}`]
  switch (lack) {
    case 'secret':
      return { message: `there is no Secret ${name}${within}`, fix: 'create it, or name another one' }
    case 'label':
      return {
        message: `the Secret ${name}${within} is not lent to policies`,
        fix: `kubectl label secret ${name}${option} ${POLICY_SECRET_LABEL}=${POLICY_SECRET}`,
      }
    case 'key':
      return { message: `the Secret ${name} has no key ${key}`, fix: 'add it, or name another key' }
    default:
      return lack satisfies never
  }
}

/** @returns the advice that a Secret cannot be used, in the words of whoever looked */
export function secretAdvice({ path, secret }: SecretReference, said: { readonly message: string; readonly fix: string }): Advice {
  return adviceOf('SecretUnusable', { path, value: secret, ...said })
}

/** @returns the advice that a host may not be asked. `value` is what stands at the path. */
export function hostAdvice(path: string, value: unknown, url: string): Advice {
  const { host } = new URL(url)
  const fix = `name another host, or allow it where the controller is started: --allow-host ${host}`
  return adviceOf('HostNotAllowed', { path, value, message: `${host} is not an allowed host`, fix })
}
