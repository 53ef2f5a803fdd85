/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A DLL called R.dll that has nothing to do with R. */
__declspec(dllexport) int answer;
