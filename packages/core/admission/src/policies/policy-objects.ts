/** A rule of CEL that must be true, and what is said where it is not. */
export interface Validation {
  readonly expression: string
  readonly message: string
  /** The same with words of the case, as CEL. */
  readonly messageExpression?: string
}

/** An expression with a name: a variable or a match condition. */
export interface NamedExpression {
  readonly name: string
  readonly expression: string
}

/** What a policy looks at. */
export interface PolicyScope {
  /** Without the name of the installation in front. */
  readonly name: string
  readonly operations: readonly ('CREATE' | 'UPDATE')[]
  readonly group: string
  readonly version: string
  readonly resource: string
  /** Labels of the object, old or new. Absent: every object. */
  readonly labels?: Readonly<Record<string, string>>
  readonly conditions: readonly NamedExpression[]
  /** Objects of the namespace for each of which the policy is evaluated; where there are none, it has nothing to say. */
  readonly params?: { readonly apiVersion: string; readonly kind: string; readonly labels: Readonly<Record<string, string>> }
  /** In their order: each may use those before it. */
  readonly variables: readonly NamedExpression[]
}

/** An object of `admissionregistration.k8s.io/v1`, or several of them. */
export interface PolicyObject {
  readonly apiVersion: 'admissionregistration.k8s.io/v1'
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

/**
 * A policy that changes objects, and its binding. What goes wrong in it refuses the write: it looks at nothing but what is
 * bound to a Rollout.
 *
 * @param patch CEL that makes a list of JSONPatch
 */
export function mutatingPolicy(scope: PolicyScope, patch: string): readonly PolicyObject[] {
  return [
    object('MutatingAdmissionPolicy', scope.name, {
      ...matching(scope),
      reinvocationPolicy: 'IfNeeded',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }],
    }),
    object('MutatingAdmissionPolicyBinding', scope.name, { policyName: scope.name }),
  ]
}

/** A policy that refuses objects, or only warns of them, and its binding. */
export function validatingPolicy(scope: PolicyScope, action: 'Deny' | 'Warn', validations: readonly Validation[]): readonly PolicyObject[] {
  return [
    object('ValidatingAdmissionPolicy', scope.name, {
      ...matching(scope),
      // A warning that cannot be made up is none.
      ...(action === 'Warn' && { failurePolicy: 'Ignore' }),
      validations: validations.map((validation) => ({ ...validation, reason: 'Invalid' })),
    }),
    object('ValidatingAdmissionPolicyBinding', scope.name, {
      policyName: scope.name,
      validationActions: [action],
      ...(scope.params && { paramRef: { selector: { matchLabels: scope.params.labels }, parameterNotFoundAction: 'Allow' } }),
    }),
  ]
}

function matching({ operations, group, version, resource, labels, params, conditions, variables }: PolicyScope) {
  return {
    ...(params && { paramKind: { apiVersion: params.apiVersion, kind: params.kind } }),
    failurePolicy: 'Fail',
    matchConstraints: {
      ...(labels && { objectSelector: { matchLabels: labels } }),
      resourceRules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [resource] }],
    },
    matchConditions: conditions,
    variables,
  }
}

function object(kind: string, name: string, spec: PolicyObject['spec']): PolicyObject {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, spec }
}

/** True where the request is not our own. @see isOurWrite */
export function notOurs(managers: readonly string[]): NamedExpression {
  return { name: 'not-our-own', expression: `!(request.options.?fieldManager.orValue('') in ${celList(managers)})` }
}

/** @returns a list of texts as CEL; none of them holds a quote or a backslash */
export function celList(texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(', ')}]`
}

/** @returns a text as CEL */
export function celText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
