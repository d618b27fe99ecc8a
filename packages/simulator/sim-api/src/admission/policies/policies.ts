import { valueIn } from '@tranche/kube-types'
import { type ApiObject, type ResourceId, resources } from '../../model/client.ts'
import { ApiStatusError } from '../../model/status-error.ts'
import type { Change } from '../../store/change.ts'
import { jsonEqual, type JsonObject } from '../../model/json.ts'
import { patchedObject } from '../patched-object.ts'
import type { RequestPlace } from '../webhook-match.ts'
import { admissionRequest, placeOf, type WebhookWrite } from '../webhook-write.ts'
import { type Policy, type PolicyBinding, type PolicyValidation, readBinding, readPolicy } from './policy-configuration.ts'
import { evaluate, toJson } from './policy-expressions.ts'
import { policyVersion, selects } from './policy-match.ts'
import { type ParamSource, paramsOf } from './policy-params.ts'

/** Evaluates the stored admission policies. */
export interface Policies {
  /** @returns whether any policy matches such a request */
  handles(place: RequestPlace): boolean
  /**
   * Evaluates the mutating policies in sequence.
   *
   * @param again only those that ask for reinvocation, about changes since their evaluation
   * @throws {ApiStatusError} when a policy with failure policy Fail cannot be evaluated
   */
  mutate(write: WebhookWrite, again?: boolean): ApiObject | undefined
  /** Evaluates the validating policies. @returns warnings @throws {ApiStatusError} when one refuses or fails */
  validate(write: WebhookWrite): readonly string[]
}

/** `follow` must be called with every change, so that changed policies are read again. */
export function createPolicies(source: ParamSource): Policies & { readonly follow: (change: Change) => void } {
  let read: Bound | undefined
  const bound = (): Bound => (read ??= readBound(source))
  return {
    handles(place) {
      const wants = ({ policy }: BoundPolicy): boolean => policyVersion(policy, place) !== undefined
      return !isExempt(place) && (bound().mutating.some(wants) || bound().validating.some(wants))
    },
    mutate: (write, again = false) => (isExempt(placeOf(write)) ? write.object : mutate(source, bound().mutating, { write, again })),
    validate: (write) => (isExempt(placeOf(write)) ? [] : validate(source, bound().validating, write)),
    follow: ({ id }) => void (isExempt(id) && (read = undefined)),
  }
}

interface BoundPolicy {
  readonly policy: Policy
  readonly binding: PolicyBinding
}

interface Bound {
  readonly mutating: readonly BoundPolicy[]
  readonly validating: readonly BoundPolicy[]
}

/** Writes of admission configurations are exempt from admission. */
function isExempt({ group }: { readonly group: string }): boolean {
  return group === resources.mutatingWebhookConfigurations.group
}

function readBound({ store }: ParamSource): Bound {
  const all = (id: ResourceId): readonly ApiObject[] => {
    const { keys, objects } = store.bucket(id).current()
    return keys.map((key) => objects.get(key)!)
  }
  const pairs = (policies: ResourceId, bindings: ResourceId): readonly BoundPolicy[] => {
    const known = all(bindings).map(readBinding)
    return all(policies)
      .map(readPolicy)
      .flatMap((policy) => known.filter(({ policyName }) => policyName === policy.name).map((binding) => ({ policy, binding })))
  }
  return {
    mutating: pairs(resources.mutatingAdmissionPolicies, resources.mutatingAdmissionPolicyBindings),
    validating: pairs(resources.validatingAdmissionPolicies, resources.validatingAdmissionPolicyBindings),
  }
}

function mutate(
  source: ParamSource,
  policies: readonly BoundPolicy[],
  { write, again }: { readonly write: WebhookWrite; readonly again: boolean },
): ApiObject | undefined {
  let { object } = write
  const failed: string[] = []
  const apply = (bound: BoundPolicy): void => {
    try {
      for (const values of inputsOf(source, bound, { ...write, object })) {
        const patch = bound.policy.mutations.flatMap((expression) => toJson(evaluate(expression, values)) as readonly unknown[])
        object = patchedObject({ ...write, object }, patch, `policy '${bound.policy.name}'`)
      }
    } catch (error) {
      if (error instanceof ApiStatusError) throw error
      if (bound.policy.failurePolicy === 'Fail') failed.push(refusal(bound, error))
    }
  }
  const reinvoked = policies.filter(({ policy }) => policy.reinvocationPolicy === 'IfNeeded')
  for (const bound of again ? reinvoked : policies) apply(bound)
  if (!again && policies.length > 1 && !jsonEqual(object, write.object)) for (const bound of reinvoked) apply(bound)
  const [message] = failed
  if (message !== undefined) throw refused(write, { message, reason: 'Invalid', code: 403 })
  return object
}

function refusal({ policy, binding }: BoundPolicy, error: unknown): string {
  return `policy '${policy.name}' with binding '${binding.name}' denied request: ${(error as Error).message}`
}

function validate(source: ParamSource, policies: readonly BoundPolicy[], write: WebhookWrite): readonly string[] {
  const warnings: string[] = []
  const denied: (Denial & { readonly bound: BoundPolicy })[] = []
  for (const bound of policies) {
    const { policy, binding } = bound
    for (const denial of denialsOf(source, bound, write)) {
      if (binding.actions.includes('Deny')) denied.push({ ...denial, bound })
      if (binding.actions.includes('Warn'))
        warnings.push(`Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${denial.message}`)
    }
  }
  const [first] = denied
  if (first === undefined) return warnings
  const { policy, binding } = first.bound
  const message = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ${first.message}`
  throw refused(write, {
    message: `${subject(write)} is forbidden: ${message}`,
    cause: message,
    reason: first.reason,
    code: valueIn(codes, first.reason) ?? 422,
  })
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 }

interface Denial {
  readonly message: string
  readonly reason: string
}

function denialsOf(source: ParamSource, bound: BoundPolicy, write: WebhookWrite): readonly Denial[] {
  const { policy } = bound
  const failure = (error: unknown): readonly Denial[] =>
    policy.failurePolicy === 'Ignore' ? [] : [{ message: (error as Error).message, reason: 'Invalid' }]
  try {
    return inputsOf(source, bound, write).flatMap((values) =>
      policy.validations.flatMap((validation) => {
        try {
          if (evaluate(validation.expression, values) === true) return []
          return [{ message: messageOf(validation, values), reason: validation.reason }]
        } catch (error) {
          return failure(error)
        }
      }),
    )
  } catch (error) {
    return failure(error)
  }
}

type Values = Readonly<Record<string, unknown>>

function messageOf({ expression, message, messageExpression }: PolicyValidation, values: Values): string {
  const otherwise = message === '' ? `failed expression: ${expression.trim()}` : message
  if (messageExpression === '') return otherwise
  try {
    const made = evaluate(messageExpression, values)
    return typeof made === 'string' && made.trim() !== '' && !made.trim().includes('\n') ? made.trim() : otherwise
  } catch {
    return otherwise
  }
}

/** @returns variables of the expressions, once per params object; empty when the policy does not match the write */
function inputsOf(source: ParamSource, bound: BoundPolicy, write: WebhookWrite): readonly Values[] {
  const { policy, binding } = bound
  const place = placeOf(write)
  const version = policyVersion(policy, place)
  const namespaceOf = (name: string): ApiObject | undefined => source.store.bucket(resources.namespaces).get(name)
  if (version === undefined || !selects(bound, { ...write, place }, namespaceOf)) return []
  const { object, oldObject, ...request } = admissionRequest(write, '', version)
  const namespaceObject = write.namespace === undefined ? null : (namespaceOf(write.namespace) ?? null)
  return paramsOf(source, policy, binding, write.namespace)
    .map((params) => ({ object, oldObject, request, params: params ?? null, namespaceObject }))
    .filter((values) => meets(policy, values))
    .map((values) => ({ ...values, variables: variablesOf(policy, values) }))
}

/** One false condition decides, even if others fail to evaluate. */
function meets({ matchConditions }: Policy, values: Values): boolean {
  let fault: unknown
  for (const { expression } of matchConditions) {
    try {
      if (evaluate(expression, values) !== true) return false
    } catch (error) {
      fault ??= error
    }
  }
  if (fault !== undefined) throw fault as Error
  return true
}

/** A variable that cannot be evaluated is missing: an expression that uses it fails. */
function variablesOf({ variables }: Policy, values: Values): JsonObject {
  const known: Record<string, unknown> = {}
  for (const { name, expression } of variables) {
    try {
      known[name] = evaluate(expression, { ...values, variables: known })
    } catch {}
  }
  return known
}

interface Refusal extends Denial {
  readonly cause?: string
  readonly code: number
}

function refused({ resource, name }: WebhookWrite, { message, cause = message, reason, code }: Refusal): ApiStatusError {
  const { group, resource: kind } = resource
  return new ApiStatusError(code, reason, message, { name, ...(group !== '' && { group }), kind, causes: [{ message: cause }] })
}

function subject({ resource: { group, resource }, name, operation }: WebhookWrite): string {
  const named = name === '' && operation !== 'CREATE' ? 'Unknown' : name
  return `${group === '' ? resource : `${resource}.${group}`} ${JSON.stringify(named)}`
}
