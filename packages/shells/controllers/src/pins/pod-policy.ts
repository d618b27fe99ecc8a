/** The policy of the API server that names copies of config in pods, as a watch shows it. */
export interface PodPolicy {
  /**
   * Why pods of a namespace would read config itself and not its copies; text without full stop. Null where the API server names copies in
   * them; undefined while that is not known yet.
   */
  fault(namespace: string): string | null | undefined
}
