/** A resource whose objects are answered and never stored: `create` is all that can be done. */
export interface CreateOnlyResource {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

const authentication = 'authentication.k8s.io'
const authorization = 'authorization.k8s.io'

/** Every resource of that sort; each in version v1. */
export const createOnlyResources: readonly CreateOnlyResource[] = [
  { group: authentication, plural: 'selfsubjectreviews', kind: 'SelfSubjectReview', namespaced: false },
  { group: authentication, plural: 'tokenreviews', kind: 'TokenReview', namespaced: false },
  { group: authorization, plural: 'localsubjectaccessreviews', kind: 'LocalSubjectAccessReview', namespaced: true },
  { group: authorization, plural: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview', namespaced: false },
  { group: authorization, plural: 'selfsubjectrulesreviews', kind: 'SelfSubjectRulesReview', namespaced: false },
  { group: authorization, plural: 'subjectaccessreviews', kind: 'SubjectAccessReview', namespaced: false },
]
