// golden: numpy float64 with error bounds
// Bodies around two suns, in steps of the eighth-order method of Dormand and Prince, and the largest estimate of a
// step's error (Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", II.5: DOP853).
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef struct { double x, y, u, v; } State;
State slope(State s, double mass) {
  double a = s.x * s.x + s.y * s.y + 0.01, dx = s.x - 1.7, b = dx * dx + s.y * s.y + 0.01;
  double at = 1.0 / (a * sqrt(a)), bt = mass / (b * sqrt(b));
  State d = {s.u, s.v, -(s.x * at + dx * bt), -(s.y * at + s.y * bt)};
  return d;
}
State along(State s, double h, State k) {
  State r = {s.x + h * k.x, s.y + h * k.y, s.u + h * k.u, s.v + h * k.v};
  return r;
}
State times(double c, State k) {
  State r = {c * k.x, c * k.y, c * k.u, c * k.v};
  return r;
}
__kernel void orbits(__global State *bodies, __global double *worst, int steps, double h, double mass, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  State s = bodies[i];
  double most = 0.0;
  for (int step = 0; step < steps; step++) {
    State k0 = slope(s, mass);
    State t1 = times(5.26001519587677318785587544488e-2, k0);
    State k1 = slope(along(s, h, t1), mass);
    State t2 = times(1.97250569845378994544595329183e-2, k0);
    t2 = along(t2, 5.91751709536136983633785987549e-2, k1);
    State k2 = slope(along(s, h, t2), mass);
    State t3 = times(2.95875854768068491816892993775e-2, k0);
    t3 = along(t3, 8.87627564304205475450678981324e-2, k2);
    State k3 = slope(along(s, h, t3), mass);
    State t4 = times(2.41365134159266685502369798665e-1, k0);
    t4 = along(t4, -8.84549479328286085344864962717e-1, k2);
    t4 = along(t4, 9.24834003261792003115737966543e-1, k3);
    State k4 = slope(along(s, h, t4), mass);
    State t5 = times(3.7037037037037037037037037037e-2, k0);
    t5 = along(t5, 1.70828608729473871279604482173e-1, k3);
    t5 = along(t5, 1.25467687566822425016691814123e-1, k4);
    State k5 = slope(along(s, h, t5), mass);
    State t6 = times(3.7109375e-2, k0);
    t6 = along(t6, 1.70252211019544039314978060272e-1, k3);
    t6 = along(t6, 6.02165389804559606850219397283e-2, k4);
    t6 = along(t6, -1.7578125e-2, k5);
    State k6 = slope(along(s, h, t6), mass);
    State t7 = times(3.70920001185047927108779319836e-2, k0);
    t7 = along(t7, 1.70383925712239993810214054705e-1, k3);
    t7 = along(t7, 1.07262030446373284651809199168e-1, k4);
    t7 = along(t7, -1.53194377486244017527936158236e-2, k5);
    t7 = along(t7, 8.27378916381402288758473766002e-3, k6);
    State k7 = slope(along(s, h, t7), mass);
    State t8 = times(6.24110958716075717114429577812e-1, k0);
    t8 = along(t8, -3.36089262944694129406857109825, k3);
    t8 = along(t8, -8.68219346841726006818189891453e-1, k4);
    t8 = along(t8, 2.75920996994467083049415600797e1, k5);
    t8 = along(t8, 2.01540675504778934086186788979e1, k6);
    t8 = along(t8, -4.34898841810699588477366255144e1, k7);
    State k8 = slope(along(s, h, t8), mass);
    State t9 = times(4.77662536438264365890433908527e-1, k0);
    t9 = along(t9, -2.48811461997166764192642586468, k3);
    t9 = along(t9, -5.90290826836842996371446475743e-1, k4);
    t9 = along(t9, 2.12300514481811942347288949897e1, k5);
    t9 = along(t9, 1.52792336328824235832596922938e1, k6);
    t9 = along(t9, -3.32882109689848629194453265587e1, k7);
    t9 = along(t9, -2.03312017085086261358222928593e-2, k8);
    State k9 = slope(along(s, h, t9), mass);
    State t10 = times(-9.3714243008598732571704021658e-1, k0);
    t10 = along(t10, 5.18637242884406370830023853209, k3);
    t10 = along(t10, 1.09143734899672957818500254654, k4);
    t10 = along(t10, -8.14978701074692612513997267357, k5);
    t10 = along(t10, -1.85200656599969598641566180701e1, k6);
    t10 = along(t10, 2.27394870993505042818970056734e1, k7);
    t10 = along(t10, 2.49360555267965238987089396762, k8);
    t10 = along(t10, -3.0467644718982195003823669022, k9);
    State k10 = slope(along(s, h, t10), mass);
    State t11 = times(2.27331014751653820792359768449, k0);
    t11 = along(t11, -1.05344954667372501984066689879e1, k3);
    t11 = along(t11, -2.00087205822486249909675718444, k4);
    t11 = along(t11, -1.79589318631187989172765950534e1, k5);
    t11 = along(t11, 2.79488845294199600508499808837e1, k6);
    t11 = along(t11, -2.85899827713502369474065508674, k7);
    t11 = along(t11, -8.87285693353062954433549289258, k8);
    t11 = along(t11, 1.23605671757943030647266201528e1, k9);
    t11 = along(t11, 6.43392746015763530355970484046e-1, k10);
    State k11 = slope(along(s, h, t11), mass);
    State t12 = times(5.42937341165687622380535766363e-2, k0);
    t12 = along(t12, 4.45031289275240888144113950566, k5);
    t12 = along(t12, 1.89151789931450038304281599044, k6);
    t12 = along(t12, -5.8012039600105847814672114227, k7);
    t12 = along(t12, 3.1116436695781989440891606237e-1, k8);
    t12 = along(t12, -1.52160949662516078556178806805e-1, k9);
    t12 = along(t12, 2.01365400804030348374776537501e-1, k10);
    t12 = along(t12, 4.47106157277725905176885569043e-2, k11);
    State e = times(0.1312004499419488073250102996e-1, k0);
    e = along(e, -0.1225156446376204440720569753e+1, k5);
    e = along(e, -0.4957589496572501915214079952, k6);
    e = along(e, 0.1664377182454986536961530415e+1, k7);
    e = along(e, -0.3503288487499736816886487290, k8);
    e = along(e, 0.3341791187130174790297318841, k9);
    e = along(e, 0.8192320648511571246570742613e-1, k10);
    e = along(e, -0.2235530786388629525884427845e-1, k11);
    s = along(s, h, t12);
    most = fmax(most, h * (fabs(e.x) + fabs(e.y) + fabs(e.u) + fabs(e.v)));
  }
  bodies[i] = s;
  worst[i] = most;
}
