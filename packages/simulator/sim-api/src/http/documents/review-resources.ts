/** Resource without stored objects: a create sends a question and returns the result. */
export interface ReviewResource {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

/** All review resources; each in version v1. */
export const reviewResources = [
  { group: 'authentication.k8s.io', plural: 'selfsubjectreviews', kind: 'SelfSubjectReview', namespaced: false },
  { group: 'authentication.k8s.io', plural: 'tokenreviews', kind: 'TokenReview', namespaced: false },
  { group: 'authorization.k8s.io', plural: 'localsubjectaccessreviews', kind: 'LocalSubjectAccessReview', namespaced: true },
  { group: 'authorization.k8s.io', plural: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview', namespaced: false },
  { group: 'authorization.k8s.io', plural: 'selfsubjectrulesreviews', kind: 'SelfSubjectRulesReview', namespaced: false },
  { group: 'authorization.k8s.io', plural: 'subjectaccessreviews', kind: 'SubjectAccessReview', namespaced: false },
] as const satisfies readonly ReviewResource[]
