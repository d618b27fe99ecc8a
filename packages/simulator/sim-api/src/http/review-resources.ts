/** A resource of which nothing is stored: each object is a question, asked by a create and answered at once. */
export interface ReviewResource {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

/** Every resource of that sort; each in version v1. */
export const reviewResources = [
  { group: 'authentication.k8s.io', plural: 'selfsubjectreviews', kind: 'SelfSubjectReview', namespaced: false },
  { group: 'authentication.k8s.io', plural: 'tokenreviews', kind: 'TokenReview', namespaced: false },
  { group: 'authorization.k8s.io', plural: 'localsubjectaccessreviews', kind: 'LocalSubjectAccessReview', namespaced: true },
  { group: 'authorization.k8s.io', plural: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview', namespaced: false },
  { group: 'authorization.k8s.io', plural: 'selfsubjectrulesreviews', kind: 'SelfSubjectRulesReview', namespaced: false },
  { group: 'authorization.k8s.io', plural: 'subjectaccessreviews', kind: 'SubjectAccessReview', namespaced: false },
] as const satisfies readonly ReviewResource[]
