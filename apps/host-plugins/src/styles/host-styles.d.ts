/** Style sheet of pages and frame, below one class. Made by the build. */
declare module 'virtual:host-styles' {
  /** Text of the style sheet. */
  export const text: string
}
