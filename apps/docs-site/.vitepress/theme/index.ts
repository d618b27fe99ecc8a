import { siteTheme } from '../../src/theme/site-theme.ts'

export default siteTheme
