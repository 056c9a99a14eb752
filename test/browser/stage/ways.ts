import type { Locator, Page } from 'playwright-core';

/** How somebody works a page. */
export interface Way {
  /** Activates a link or a button. */
  press(target: Locator): Promise<void>;
  /** How often something was activated. */
  count: number;
}

const MOST_STOPS = 200;

export function byMouse(): Way {
  return {
    count: 0,
    async press(target) {
      this.count++;
      await target.click();
    },
  };
}

/** With Tab and Enter alone. What Tab does not reach cannot be activated. */
export function byKeyboard(page: Page): Way {
  return {
    count: 0,
    async press(target) {
      this.count++;
      await target.waitFor();
      for (let stops = 0; !(await hasFocus(target)); stops++) {
        if (stops > MOST_STOPS) throw new Error(`Tab does not reach ${String(target)}`);
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
    },
  };
}

const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate(
    (element) =>
      element === (element as unknown as { ownerDocument: { activeElement: unknown } }).ownerDocument.activeElement,
  );
